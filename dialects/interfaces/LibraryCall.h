// A function that computes an op in place of generated code.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>

namespace tessera {

struct LibraryCall {
  std::string name;
  // What one of the runtime's own computes (include/tessera/library.h).
  llvm::SmallVector<int64_t> numbers = {};
  // Not the runtime's: the process that runs the program registers it by name, and it is told these
  // (docs/outside-kernels.md).
  bool isOutside = false;
  mlir::DictionaryAttr attributes = {};
  int64_t grid = 1; // cells that may run on different cores
  int64_t scratchBytes = 0;
  double flops = 0; // of one call
};

} // namespace tessera
