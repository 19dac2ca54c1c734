// A change of a program that its author could make: other annotations, or the factors of a reshape in
// another order. Plain data, carried out on the program as it was read.
#pragma once

#include "lib/sharding/Sharding.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tessera::mends {

enum class EditKind {
  Argument,    // of main, under another sharding
  Result,      // likewise
  Constrain,   // a constraint on a result of an op
  Reconstrain, // a constraint under another sharding
  Unconstrain, // a constraint less
  Reorder,     // a reshape: another factor becomes the most major
};

struct Edit {
  EditKind kind;
  int32_t at;                  // the argument, the result, or the number of the op
  unsigned result = 0;         // Constrain: which of the op's
  sharding::TensorSharding to; // of the first four, in axes of the program's mesh
  int64_t factor = 0;          // Reorder: which one, counted from the most major
};

struct Change {
  std::vector<Edit> edits;
  std::string text; // as a person would write it
};

// Ops by number: those of the program that was read, in the order of a walk.
std::vector<mlir::Operation *> numberedOps(mlir::ModuleOp module);
// Notes the numbers in locations, which passes keep.
void numberOps(mlir::ModuleOp module);

// False where the program has no place for an edit, and is then changed in part.
bool apply(mlir::ModuleOp module, llvm::ArrayRef<Edit> edits);

} // namespace tessera::mends
