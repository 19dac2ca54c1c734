// A sum that the threads of a block compute together in parts, in the order of OrderedSums.cpp:
//
//   columns   threads 0..31    part 0   part 8  ..     sums of 64 rows each, of 32 columns, to shared memory
//             threads 32..63   part 1   part 9  ..
//             ..
//             barrier; threads 0..31 add up the parts of their column; barrier
//   rows      of several dimensions: the same of the sixteen lanes of a unit, which every thread folds at last; of
//             several sums side by side, lanes 0..3 of the first, lanes 0..3 of the next, ..
//
// A part is a node of the tree that the order of addition is, and the parts are added as the tree goes on from
// there: the bits are those of one thread.
#pragma once

#include "passes/codegen/cpu/SumSlots.h"
#include "passes/codegen/gpu/EntryFunction.h"

#include <optional>

namespace tessera::codegen::gpu {

// What a part has of the summed loops: `rows` of one of them, all of those within, one of those around. Of the
// innermost loop of rows it has fours of units, or what is left over at the end.
struct SumParts {
  size_t depth = 0;
  int64_t rows = 1;
  llvm::SmallVector<int64_t, 4> counts; // of the loops up to that one, this in parts
  int64_t count() const {
    int64_t product = 1;
    for (int64_t number : counts)
      product *= number;
    return product;
  }
};

// The innermost loop of rows.
struct Units {
  Units(const Graph &graph, const Reduction &reduction);
  int64_t size, unit, fours;
  bool hasRest() const { return fours * 4 * unit < size; }
};

// Of columns: the largest parts of which each of `threads` has two; or so many of 64 rows and more that half of the
// threads have one, or else as many as there are threads. None: there are not so many, or more than `most`.
std::optional<SumParts> partsOfColumns(const Graph &graph, const Reduction &reduction,
                                       int64_t threads, int64_t most);
// Of rows, for so many units of threads: the largest parts of which each has two, or as many as there are.
SumParts partsOfRows(const Graph &graph, const Reduction &reduction, int64_t units, int64_t most);

class PartedSum : SumSlots {
public:
  PartedSum(Emitter &e, const Reduction &reduction, const SumParts &parts, Value space);

  Value column = nullptr,
        team = nullptr; // of a thread; of rows: its lane, of all that lie side by side
  int64_t columns = 0, teams = 0;

  // Of one column, with its number of parts and a place for their sum.
  static int64_t bytesOfColumn(const Emitter &e, const Reduction &reduction, int64_t parts);

  // With its initial values. Columns that do not exist have no parts.
  llvm::SmallVector<Value> emit(Value exists = nullptr);

private:
  Value lane(); // of the thread's own sum
  Value place(size_t input, Value part, Value column);
  void keep(Value part, llvm::ArrayRef<Value> values);
  Slots kept(Value part, Value column);
  Slots foldLanes(Value total);
  bool isOfUnits(size_t depth) const { return units && depth + 1 == reduction.loops.size(); }
  int64_t wholeParts() const { return llvm::divideCeil(units->fours, parts.rows); }

  void inFours(Value low, Value high, int64_t most, bool isExact, llvm::ArrayRef<Value> into,
               llvm::function_ref<void(Value term, llvm::ArrayRef<Value> into)> each);
  void addLoop(size_t depth, llvm::ArrayRef<Value> into);
  void addTerms(size_t depth, Value low, Value high, int64_t most, bool isExact,
                llvm::ArrayRef<Value> into);
  void addUnits(Value low, Value high, int64_t most, bool isExact, llvm::ArrayRef<Value> into);
  void addRest(llvm::ArrayRef<Value> into);
  void addPart(Value number);
  void addPartOfUnits(Value number, llvm::ArrayRef<Value> into);
  void addTree(size_t depth, Value first, llvm::ArrayRef<Value> into);

  const SumParts parts;
  std::optional<Units> units; // of rows
  Value space;
  Slots places; // in shared memory, by component
};

} // namespace tessera::codegen::gpu
