// Rounds of permutes that bring each device the part of a tensor that it wants.
#pragma once

#include "lib/sharding/ShardExchange.h"
#include "passes/localize/Localizer.h"

namespace tessera::localize {

// `value` in the layout that the exchange was planned for; the result has its shape.
mlir::Value exchangeShards(Localizer &l, mlir::Value value,
                           const sharding::ShardExchange &exchange);

} // namespace tessera::localize
