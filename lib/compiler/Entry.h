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

// The devices of the module's meshes, 1 without any. All meshes of a program have the same number.
mlir::FailureOr<int64_t> countDevices(mlir::ModuleOp module);

} // namespace tessera
