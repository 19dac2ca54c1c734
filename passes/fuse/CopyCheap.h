// Cheap values where they are used.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Makes what costs less to compute than to read again in the loops and branches that read it from outside.
void copyCheap(mlir::ModuleOp module);

} // namespace tessera::fuse
