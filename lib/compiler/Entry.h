// Which function is compiled, and for how many devices.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tessera {

// Makes function `entry` the module's only public one, under the name main. Says why where it
// cannot.
llvm::LogicalResult selectEntry(mlir::ModuleOp module, llvm::StringRef entry);

// Erases meshes on which nothing is: they may be of other numbers of devices.
void dropUnusedMeshes(mlir::ModuleOp module);

// The devices of the module's first mesh, 1 without any.
int64_t countDevices(mlir::ModuleOp module);

} // namespace tessera
