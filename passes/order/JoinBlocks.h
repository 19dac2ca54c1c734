// Collectives of a program that travel together.
#pragma once

#include "passes/order/RotateLoops.h"

namespace tessera::order {

// All-reduces, all-gathers and reduce-scatters of a block that start one after the other become one
// op where the block, ordered by its rule, is quicker so.
void joinCollectives(mlir::func::FuncOp func, BlockCosts &costs);

} // namespace tessera::order
