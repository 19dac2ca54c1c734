// Cheap values where they are used.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Makes what costs less to compute than to read again in the loops and branches that read it from outside.
void copyCheap(mlir::ModuleOp module);

// Where memory is scarce: makes again in loops, of what they read from outside, what cheap ops compute element
// by element of such values or of small arrays, such as masks. How many values.
int copyIntoLoops(mlir::ModuleOp module);

} // namespace tessera::fuse
