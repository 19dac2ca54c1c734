// The sharding rules of collectives inside of a manual computation: what lies along its free axes
// stays there.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tessera::comm {

// Attaches a rule to every collective when the dialect is loaded.
void registerCommShardingRules(mlir::DialectRegistry &registry);

} // namespace tessera::comm
