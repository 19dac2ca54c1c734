// Which operands' buffers the results of a kernel may overwrite, by what the kernel computes:
//
//   - pointwise kernels: an operand of the same size that is read only at the index that is written
//   - contractions: such an operand of their epilogue
//   - kernels that take a row after the other (KeptRows.h): an operand that is read only in the row
//     that is written, each pass over which ends before the first element of it is
//   - dynamic_update_slice and scatter: the array that they update
//   - a loop in one kernel: what it starts from
//
// A kernel must be right whether such a pair shares a buffer or not.
#pragma once

#include "dialects/exec/ExecOps.h"

#include <optional>

namespace tessera::memory {

class InplaceOperands {
public:
  explicit InplaceOperands(exec::FusedOp fused);

  // Whether operand k is read only where result i is written.
  bool isReadWhereWritten(unsigned k, unsigned i);
  // Whether result i is an update of an array, and the operand that is updated and read in no other
  // way; -1: none.
  bool isUpdate(unsigned i);
  int64_t updatedBy(unsigned i);

private:
  exec::FusedOp fused;
  llvm::SmallVector<bool> aligned;        // empty: no operand is
  std::optional<int64_t> elementsWritten; // of the only results that may overwrite one; none: all
};

} // namespace tessera::memory
