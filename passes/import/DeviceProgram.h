// Programs written for one device of many, whose collectives name devices by number.
#pragma once

#include "lib/sharding/ProcessGrid.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::import {

// The module's `mhlo.num_replicas` and `mhlo.num_partitions`; 1 where it says nothing.
sharding::ProcessGrid processGridOf(mlir::ModuleOp module);

// Whether the op's result depends on which device runs it, or on other devices.
bool namesDevices(mlir::Operation *op);

} // namespace tessera::import
