// Sums over columns past which the rows go (kernel/RowsPast.h).
#pragma once

#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/kernel/RowsPast.h"

namespace tessera::codegen {

class PastRows {
public:
  // `columns`: the innermost loop of the nest, of which vectors have so many lanes.
  PastRows(KernelFunction &function, Emitter &e, const RowsPast &past,
           llvm::ArrayRef<unsigned> columns, unsigned lanes);

  // Of the columns [from, to): their sums, and then `roots`, which find them, at each vector; `step` as
  // overVectors has it.
  void emit(Value from, Value to, int64_t step, llvm::function_ref<void()> roots);

private:
  using Row = llvm::SmallVector<int64_t, 2>; // places in the scratch, one for each component
  Row makeRow();
  void overColumns(llvm::function_ref<void(Value at, unsigned lanes)> body);
  int64_t bytesOf(size_t component) const;
  Value placeOf(const Row &row, size_t component, Value at);
  llvm::SmallVector<Value> atColumn(const Row &row, Value at, unsigned lanes);
  void store(const Row &row, Value at, llvm::ArrayRef<Value> values);
  void clear(const Row &row);
  void keepDear();
  void addFours(Value low, Value high, int64_t most, const Row &into);
  void addFour(Value four, const Row &into);

  KernelFunction &function;
  Emitter &e;
  llvm::IRBuilder<> &b;
  const RowsPast &past;
  const Reduction &sum;
  llvm::SmallVector<llvm::Type *, 2> elements; // of a row of sums, as registers hold them
  LoopGroup columns;
  unsigned lanes;
  int64_t count;                                     // rows
  int64_t stripColumns;                              // a row of sums has
  int64_t step = 0;                                  // of strips and parts, as overVectors has it
  Value low = nullptr, high = nullptr;               // of the strip
  llvm::SmallVector<std::pair<Node *, Node *>> kept; // nodes of rows, and what loads them
};

} // namespace tessera::codegen
