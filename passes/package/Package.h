// From exec.programs with compiled kernels to the sections of a .tsr.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera {

struct Package {
  std::string manifest;                                  // a serialized tessera.program.File
  std::string constants;                                 // the CONSTANT spaces of the programs
  std::vector<std::pair<std::string, std::string>> code; // sections: names, shared objects
};

// The module must be as the codegen phase leaves it: what is wrong with it is an error here, or by
// the pass verify-package where nothing is written. `report` is kept in the manifest.
mlir::FailureOr<Package> packageProgram(mlir::ModuleOp module, llvm::StringRef report);

// The container's bytes.
std::string writeContainer(const Package &package);

} // namespace tessera
