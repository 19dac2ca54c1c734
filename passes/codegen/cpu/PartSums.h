// Parts of sums over columns, beside what a nest computes for each row (kernel/ColumnSums.h).
#pragma once

#include "passes/codegen/cpu/KernelEmitter.h"

namespace tessera::codegen {

// The loops over the rows of a cell's parts, and the rows of sums that these are added to: one for each
// level of the order of addition (OrderedSums.cpp), in the kernel's scratch. The first, of four rows, is in
// registers where the nest goes along the four of them at each vector of columns.
class PartSums {
public:
  PartSums(KernelFunction &function, const NestGraph &nest, Emitter &e, bool takesFours);

  // Whether vectors of these columns may be taken for four rows at once: nothing that is dear is of rows
  // alone, or it would be computed for each vector.
  static bool canTakeFours(const NestGraph &nest, const LoopGroup &columns,
                           llvm::ArrayRef<Node *> live);

  // The loops of a cell over whole parts, and over the rows of each; `row` writes what follows for one,
  // once, or the vectors of columns for each of which `overRows` is called. `loops`: those that a cell
  // goes along, outer first; it has [low, high) of `chunked`, all of the others.
  void emit(llvm::ArrayRef<GridLoop> loops, std::optional<unsigned> chunked, Value low, Value high,
            llvm::function_ref<void()> row);
  // For use in `row`: adds the row's elements that the nest's loops are at.
  void add(const Root &root, Value value);

  bool takesFours() const { return inRegisters; }
  // At a vector of columns: `body` writes what follows for one of the rows.
  void overRows(llvm::function_ref<void()> body);
  // The most of `lanes` for which the sums leave registers for what they are made of.
  unsigned lanesOfFours(unsigned lanes) const;

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
  void addRows(Value low, Value high, const Sums &into);
  bool isOfRegisters(size_t depth) const { return inRegisters && depth + 1 == summed.size(); }
  Value sumOf(const Root &root, int buffer, Value first, Value term);
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
  bool inRegisters;
  std::pair<Value, Value> four;       // the rows that are added up in registers,
  llvm::SmallVector<Value> registers; // by root
};

} // namespace tessera::codegen
