// All shardings of a module at once.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::sdy {

// Whether every sharding, wherever it is written, fits its mesh and its value: of results,
// arguments and results of functions, and of sdy's own ops. MLIR's verifier asks the same, and much
// else, of what is read; the phases ask this of what they leave.
mlir::LogicalResult verifyShardings(mlir::ModuleOp module);

} // namespace tessera::sdy
