// Which function is compiled, and for how many devices.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>

namespace mlir {
class ModuleOp;
}

namespace tessera {

// Makes function `entry` the module's only public one, under the name main. Says why where it
// cannot.
llvm::LogicalResult selectEntry(mlir::ModuleOp module, llvm::StringRef entry);

} // namespace tessera
