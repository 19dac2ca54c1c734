// What an op's location says: who wrote it, what it was called, and the numbers that `explain`
// gives ops so that they can be found again at the end of the road.
#pragma once

#include "compiler/explain/Explanation.h"
#include "dialects/tessera/TesseraDialect.h"
#include "mlir/IR/Operation.h"

namespace tessera {

struct SourcePlace {
  std::string name;                   // of the result, in the text that was read
  std::string scope;                  // "jit(step)/while/body/dot_general"
  std::vector<explain::Frame> frames; // outermost first
  int32_t imported = -1;              // number after import
  int32_t number = -1;                // number after reshard
};

SourcePlace placeOf(mlir::Location location);

// Gives an op a number, and a value a name, as metadata of a location around its own: every pass
// keeps locations.
void setNumber(mlir::Operation *op, NumberedAfter after, int32_t number);
mlir::Location named(mlir::Location location, llvm::StringRef name);

} // namespace tessera
