// Which function is compiled, and for how many devices.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tessera {

// The function that is compiled where `asked` is asked for: without an @main the only public function
// stands for it.
std::string entryOf(mlir::ModuleOp module, llvm::StringRef asked);

// Erases functions that `entry` doesn't call, directly or through others: they are none of the
// program, and may be on meshes of other sizes or have ops that nobody knows.
void dropUncalled(mlir::ModuleOp module, llvm::StringRef entry);

// Makes function `entry` the module's only public one, under the name main. Says why where it
// cannot.
llvm::LogicalResult selectEntry(mlir::ModuleOp module, llvm::StringRef entry);

// Erases meshes on which nothing is: they say nothing about the number of devices.
void dropUnusedMeshes(mlir::ModuleOp module);

// The devices of the module's first mesh, 1 without any; those of all its device programs where it
// has some.
int64_t countDevices(mlir::ModuleOp module);

} // namespace tessera
