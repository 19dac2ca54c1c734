// Values of columns that a cell computes once, before its rows (kernel/ColumnsFirst.h).
#pragma once

#include "passes/codegen/cpu/KernelEmitter.h"

namespace tessera::codegen {

class ColumnValues {
public:
  // `nodes`: of `columns`, the loop that vectors of so many lanes run along. Those that the kernel's
  // scratch has room for are kept there.
  ColumnValues(KernelFunction &function, Emitter &e, llvm::ArrayRef<Node *> nodes,
               llvm::ArrayRef<unsigned> columns, unsigned lanes);

  // Those of the columns [from, to); `step` as overVectors has it.
  void compute(Value from, Value to, int64_t step);
  // For use at a vector of columns: they are what was computed.
  void bind();

private:
  Emitter &e;
  LoopGroup columns;
  unsigned lanes;
  Index place;                                       // of a column among them
  llvm::SmallVector<std::pair<Node *, Node *>> kept; // and what loads them
};

} // namespace tessera::codegen
