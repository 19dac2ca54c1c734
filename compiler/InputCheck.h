// What holds of a module before the first phase takes it: whatever was read from a file may be
// anything that parses.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

// Refuses what verifiers of single operations can't see: operations of other dialects and of later
// phases, arrays that no machine holds, functions that are no straight line, arguments that alias
// results that aren't there. The module's entry is @main already.
llvm::LogicalResult checkInput(mlir::ModuleOp module);

} // namespace tessera
