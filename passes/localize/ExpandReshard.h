// From one local layout to another, as collectives.
#pragma once

#include "passes/localize/Localizer.h"

namespace tessera::localize {

// `to.partial` may have axes that the value is not partial over: then one rank along them keeps the
// value and the others hold what the reduction ignores.
mlir::Value expandReshard(Localizer &l, sharding::ReshardPlanner &planner, LocalValue from,
                          llvm::ArrayRef<int64_t> globalShape, const LocalLayout &to);

} // namespace tessera::localize
