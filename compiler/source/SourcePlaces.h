// What an op's location says: who wrote it, what it was called, and the numbers that `explain`
// gives ops so that they can be found again at the end of the road.
#pragma once

#include "compiler/explanation/Explanation.h"
#include "dialects/tessera/TesseraDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {

struct SourcePlace {
  std::string name;                   // of the result, in the text that was read
  std::string scope;                  // "jit(step)/while/body/dot_general"
  std::vector<explain::Frame> frames; // outermost first
  int32_t read = -1;                  // number after reading: of the innermost function
  int32_t number = -1;                // number after reshard
};

SourcePlace placeOf(mlir::Location location);

// The whole stack on one line, the innermost frame first.
std::string stackText(llvm::ArrayRef<explain::Frame> frames);

// What a person calls an argument of main: as the frontend named it, else by its name in the text.
std::string argumentName(const SourcePlace &place, unsigned index);

// Gives an op a number, and a value a name, as metadata of a location around its own: every pass
// keeps locations.
void setNumber(mlir::Operation *op, NumberedAfter after, int32_t number);
mlir::Location named(mlir::Location location, llvm::StringRef name);

// The program's text with the locations that it had when it was read, and without what the command
// line and import said of it: tessera compile takes it.
std::string printedAsRead(mlir::ModuleOp module);

} // namespace tessera
