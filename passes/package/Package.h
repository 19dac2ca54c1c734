// From an exec.program with compiled kernels to the three sections of a .tsr.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tessera {

struct Package {
  std::string manifest;  // a serialized tessera.program.Program
  std::string constants; // the CONSTANT space
  std::string code;      // a shared object with the kernels
};

// The module must be as the codegen phase leaves it: what is wrong with it is an error here, or by
// the pass verify-package where nothing is written. `report` is kept in the manifest.
mlir::FailureOr<Package> packageProgram(mlir::ModuleOp module, llvm::StringRef report);

// The container's bytes.
std::string writeContainer(const Package &package);

} // namespace tessera
