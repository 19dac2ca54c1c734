// Which attributes operations, arguments and results may have besides those that they declare.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

// Marks (this dialect's), what sdy says, and what frontends write that we read or pass on; the list
// with its reasons is in the source. All else import drops: nobody would look after it.
bool isKnownAttribute(mlir::StringAttr name);

// Whether every attribute that isn't declared is known and stands where it may, and every sharding
// fits its mesh and its value. MLIR's verifier asks most of it, and much else, of what is read; the
// phases ask this of what they leave.
mlir::LogicalResult verifyAttributes(mlir::ModuleOp module);

} // namespace tessera
