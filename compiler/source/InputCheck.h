// What holds of a module before the first phase takes it: whatever was read from a file may be
// anything that parses.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

// Whether the module is what a person wrote for the phases from memory on: device programs, with
// their kernels.
bool holdsDevicePrograms(mlir::ModuleOp module);

// Refuses what verifiers of single operations can't see: operations of other dialects and of later
// phases, arrays that no machine holds, functions that are no straight line, arguments that alias
// results that aren't there. The module's entry is @main already. Of device programs, whose own verifiers say more, only what
// stands beside them.
llvm::LogicalResult checkInput(mlir::ModuleOp module);

} // namespace tessera
