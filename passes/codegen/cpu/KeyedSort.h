// Sorts a row by one number of each of its elements, without comparing.
//
// That number becomes a key: an unsigned integer in the same order. With it travels, in a record,
// what the results need: nothing where the key itself tells, the bits of the one operand that is
// wanted, or the element's place in the row, by which operands are read at the end. Records are
// sorted by their keys' digits, the last first (Knuth 1998, The Art of Computer Programming 3,
// 5.2.5); a few of them by counting how many are less.
//
// Of the first elements of a long row alone: records that are less than the last one which is wanted
// of those so far are collected, and sorted where they have become many.
#pragma once

#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/kernel/SortOrder.h"

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::codegen {

class KeyedSort {
public:
  // The row is `index` with all of its places along `dimension`, of which the first `kept` are wanted.
  KeyedSort(KernelFunction &function, EmittedGraph &g, stablehlo::SortOp op, SortOrder order,
            llvm::ArrayRef<Index> index, unsigned dimension, int64_t kept)
      : function(function), g(g), e(g.emitter), b(g.emitter.b), op(op), order(order),
        index(index.begin(), index.end()), dimension(dimension), kept(kept) {}

  // Before loops are opened.
  bool build();
  // A row, whose loop is `along`.
  void emitRow(unsigned along);

private:
  struct Result {
    unsigned output;
    Element value; // by its place
    ElementKind kind;
    bool isKey = false, travels = false;
  };
  bool buildResults(llvm::ArrayRef<Element> operands);
  void reserve();
  Value keyOf(Value value);
  Value bitsOfKey(Value key);
  Value record(unsigned lanes);
  Value recordAt(Value records, Value number);
  void collect(unsigned along);
  void collectFirst(unsigned along);
  Value sorted(Value count);
  Value digit(Value record, Value pass);
  void scatterByDigit(Value pass, Value count, Value fromSlot, Value toSlot);
  Value counted();
  void writeResults(Value records);

  KernelFunction &function;
  EmittedGraph &g;
  Emitter &e;
  llvm::IRBuilder<> &b;
  stablehlo::SortOp op;
  SortOrder order;
  llvm::SmallVector<Index, 6> index;
  unsigned dimension;
  int64_t size = 0, kept;
  bool takesFirst = false; // without sorting the others
  bool isFew = false;      // sorted by counting
  Node *key = nullptr;
  Node *place = nullptr;   // in the row, of the element that is written
  Node *payload = nullptr; // what travels; null: the place, or nothing
  llvm::SmallVector<Result> results;
  unsigned outDim = 0;
  Index outOffset = nullptr;
  unsigned keyBits = 32, payloadBits = 0;
  llvm::Type *recordType = nullptr;
  int64_t capacity = 0;        // records
  int64_t places[2], counters; // in the scratch
  int64_t digitBits = 8, passes = 4;
};

} // namespace tessera::codegen
