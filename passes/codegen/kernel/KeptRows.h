// Rows that stay in a kernel.
//
//   max(x), e = exp(x - max), sum(e), e / sum      pass 1: x             -> max
//                                                  pass 2: x, max        -> e (kept), sum
//                                                  pass 3: e (kept), sum -> result
//
// A kernel whose reductions fold the same rows, the innermost dimensions of one shape, takes a row
// after the other: a pass over it for each reduction, and a last one for results of the rows' shape.
// What is dear to compute and read in several passes is stored by the first of them, a row of it, in
// the kernel's scratch. The rest is computed again from the row, which is in a cache by then.
#pragma once

#include "passes/codegen/kernel/KernelSource.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace tessera::codegen {

struct KeptRows {
  llvm::SmallVector<int64_t, 6> shape; // of the arrays that rows are of
  unsigned outer = 0;                  // its dimensions before those of a row
  // Values of which a row is kept, with the reduction whose pass stores it and where.
  struct Slot {
    mlir::Operation *filler;
    int64_t offset; // bytes in the scratch of the rows
  };
  llvm::MapVector<mlir::Value, Slot> slots;
  int64_t bytes = 0;
  int64_t window = 0;         // elements of a row that are there at one time; 0: all
  bool lacksOperands = false; // that several passes read, for want of room
  int64_t passes = 0;         // over a row

  int64_t count() const;    // rows
  int64_t elements() const; // of a row
};

// What of a row is worth keeping.
struct RowPolicy {
  int64_t mostBytes = 1 << 20; // what finds no room is computed in each pass
  bool keepsInputs = false;    // what is read from memory in several passes, too
  bool keepsComputed = true;   // what is dear to compute
  int64_t window = 0;          // as in the rows
};
// The rows of a kernel with results for their elements, or with several passes; else none.
std::optional<KeptRows> keptRows(const KernelSource &kernel, const RowPolicy &policy = {});
// Whether `op` folds each of the rows to one element.
bool foldsRows(mlir::Operation *op, const KeptRows &rows);
// Whether an array has one element for each row, in the rows' order.
bool hasOneForEachRow(const KeptRows &rows, mlir::Value value);

} // namespace tessera::codegen
