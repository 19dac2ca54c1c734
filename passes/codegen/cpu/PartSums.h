// Parts of sums over columns, beside what a nest computes for each row (kernel/ColumnSums.h).
#pragma once

#include "passes/codegen/cpu/KernelEmitter.h"

namespace tessera::codegen {

// The loops over the rows of a cell's parts, and the rows of sums that these are added to: one for each
// level of the order of addition (OrderedSums.cpp), in the kernel's scratch.
class PartSums {
public:
  PartSums(KernelFunction &function, const NestGraph &nest, Emitter &e);

  // The loops of a cell over whole parts, and over the rows of each; `row` writes what follows for one,
  // once. `loops`: those that a cell goes along, outer first; it has [low, high) of `chunked`, all of
  // the others.
  void emit(llvm::ArrayRef<GridLoop> loops, std::optional<unsigned> chunked, Value low, Value high,
            llvm::function_ref<void()> row);
  // For use in `row`: adds the row's elements that the nest's loops are at.
  void add(const Root &root, Value value);

private:
  // Rows of sums, one for each root; where `first` holds there is nothing in them yet.
  struct Sums {
    llvm::SmallVector<int> buffers;
    Value first = nullptr;
  };
  Sums makeSums();
  void addSums(const Sums &into, const Sums &from);
  void emitPart();
  void addLoop(size_t depth, Value low, Value high, int64_t most, const Sums &into);
  void addTerms(size_t depth, Value low, Value high, const Sums &into);
  void addFours(size_t depth, Value low, Value high, int64_t most, Value end, const Sums &into);
  void writePart(const Sums &sums);
  void overColumns(int64_t columns, ElementKind kind,
                   llvm::function_ref<void(Value at, llvm::Type *type, Value mask)> body);

  KernelFunction &function;
  const NestGraph &nest;
  const ColumnSums &sums;
  Emitter &e;
  llvm::IRBuilder<> &b;
  llvm::SmallVector<const Root *> roots; // that are parts
  llvm::SmallVector<unsigned> summed;    // dimensions of the shape that a part has several of
  std::pair<Value, Value> range;         // of the first of them, where it is divided
  llvm::function_ref<void()> emitRow;
  Sums current; // that `row` adds to
};

} // namespace tessera::codegen
