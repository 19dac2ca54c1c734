// Writes nodes as LLVM IR inside a nest of loops.
//
// A level is a loop that is open; level 0 is the body of one grid cell. A node is emitted once, at
// the deepest level that it depends on, so what doesn't change in a loop is computed before it. One
// level may be a vector level: its loop steps by `lanes`, and nodes that depend on it are vectors
// of that many elements.
#pragma once

#include "passes/codegen/cpu/CpuTarget.h"
#include "passes/codegen/cpu/LlvmTypes.h"
#include "passes/codegen/kernel/ShortRows.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <functional>

namespace tessera::codegen {

using Value = llvm::Value *;

class Emitter {
public:
  // `arguments` and `scratch`: the kernel's operands and scratch, loaded at its entry.
  Emitter(llvm::Module &module, Graph &graph, const VectorFeatures &features,
          llvm::ArrayRef<Value> arguments, Value scratch)
      : module(module), graph(graph), features(features), b(module.getContext()),
        arguments(arguments), scratch(scratch) {}

  llvm::Module &module;
  Graph &graph;
  VectorFeatures features;
  llvm::IRBuilder<> b;

  llvm::SmallVector<Value> arguments;
  Value scratch;
  llvm::SmallVector<Value> constantArrays; // by buffer; made at first use

  // Levels.
  struct Level {
    DimSet dims = 0;
    llvm::Instruction *insertBefore = nullptr;
    unsigned lanes = 1;
    Value laneMask = nullptr;           // lanes that exist, in the last round of a loop
    std::optional<ShortRows> shortRows; // that the lanes are at
    llvm::DenseMap<Node *, Value> values;
    llvm::DenseMap<Reduction *, llvm::SmallVector<Value>> reductions;
    // Of a loop: what to resume after it.
    llvm::Instruction *resume = nullptr;
    llvm::Instruction *entry =
        nullptr; // its jump: where code of the levels around it goes meanwhile
  };
  std::vector<Level> levels;
  // Where a node of these dimensions is kept once it is computed.
  unsigned levelOf(DimSet deps) const;
  // The loops' variables; null: part of the next dimension's loop (LoopGroups.h).
  llvm::SmallVector<Value> variables;

  void openBody(llvm::Instruction *insertBefore); // level 0
  // for (iv = low; iv < high; iv += step): guarded when it may run zero times.
  // While it is open, code of the levels around it goes before it.
  Value openLoop(Value low, Value high, int64_t step, bool mayBeEmpty);
  // In the innermost level `variable` stands for `dim`, and for the dimensions of `all` that were
  // collapsed into it.
  void bindLevel(unsigned dim, DimSet all, Value variable, unsigned lanes, Value laneMask);
  void closeLoop();
  // The lanes are at points of `rows`, counted from those of row `row`.
  void bindRows(const ShortRows &rows, DimSet all, Value row, unsigned lanes, Value laneMask);
  // In the innermost level the loop over `dims`, outer first, is at `position`.
  void bindLoop(llvm::ArrayRef<unsigned> dims, Value position);
  // What follows only runs where `condition` (one lane) holds, until closeLoop.
  void openIf(Value condition);
  // A level without a loop: `dim` is `variable` in it.
  void openBlock();
  void closeBlock();
  void moveInsertion(llvm::Instruction *from, llvm::Instruction *to);
  void resumeInsertion() { b.SetInsertPoint(levels.back().insertBefore); }

  // Of a chain of products: a loop over its blocks, and where each begins and ends.
  std::pair<Value, Value> openBlocks(const Reduction &reduction);
  void overRuns(llvm::ArrayRef<unsigned> dims, Value low, Value high,
                llvm::function_ref<void()> body);

  // Nodes and indices at the current position.
  Value emit(Node *node);
  Value emitIndex(Index index); // scalar: of what doesn't depend on the vector level
  unsigned lanes() const;
  // Whether a quotient, by what all vectors of the loop share, is quicker by a product with its reciprocal:
  // there are several of them, and they don't wait for memory.
  bool takesReciprocal(const Node *quotient);
  const Level *vectorLevel() const;

  // Whether stores of whole vectors go past the caches: they lie in as few lines as they fit into.
  bool streams = false;
  // value[index] = re (, im), by the current lanes.
  void store(Value pointer, ElementKind kind, Index offset, Value re, Value im = nullptr);

  // The same of elements that lie side by side.
  struct Column {
    Value value;
    ElementKind kind;
    Index offset;
  };
  void storeColumns(Value pointer, llvm::ArrayRef<Column> columns);

  // The columns of a square of vectors (as many as each has elements), or of several squares that
  // lie side by side in them.
  llvm::SmallVector<Value> transpose(llvm::SmallVector<Value> rows);

  // Values.
  Value splat(Value value, unsigned lanes);
  Value i64(int64_t value) { return b.getInt64(value); }
  llvm::Type *typeOf(ElementKind kind, unsigned lanes);
  Value constantOf(ElementKind kind, int64_t bits);
  Value identity(Op op, ElementKind kind); // of a reducer
  Value fromMemory(ElementKind kind, Value stored);
  Value toMemory(ElementKind kind, Value value);
  Value round(ElementKind kind, Value value); // f32 to what bf16 or f16 can hold
  Value convert(Value value, ElementKind from, ElementKind to);
  Value arithmetic(Op op, ElementKind kind, llvm::ArrayRef<Value> operands,
                   const Node *node = nullptr);
  Value bufferPointer(int buffer);
  Value element(Value pointer, ElementKind kind, Value offset);

  // The reducer applied to accumulated and new components.
  llvm::SmallVector<Value> combine(const Reduction &reduction, llvm::ArrayRef<Value> accumulated,
                                   llvm::ArrayRef<Value> fresh);
  // Nodes in terms of External ones, whose values are given; nothing of it is kept.
  llvm::SmallVector<Value> evaluate(llvm::ArrayRef<Node *> nodes,
                                    llvm::ArrayRef<std::pair<Node *, Value>> given);
  Value temporary(llvm::Type *type, const llvm::Twine &name = ""); // a stack slot of the function

  // What `reduction`, a pass over rows by vectors, asks for of the next row (RowAhead.cpp): what
  // `load` reads in `pass`, which may be another one.
  struct NextRow {
    Node *load;
    const Reduction *pass;
  };
  llvm::SmallVector<NextRow> rowsAhead(const Reduction &reduction);
  // Asks for a vector of the next row, `position` elements from its start.
  void askForNextRow(const NextRow &row, Value position);
  // Of the loop over `rows`, which is at `row`: what loads will read a few rows later, where other
  // arrays say which rows these are. `columns`: the loop inside, which is still to be opened.
  struct GatheredRow {
    Node *load;
    Value place;
  };
  llvm::SmallVector<GatheredRow> gatheredAhead(llvm::ArrayRef<unsigned> rows, Value row, Value end,
                                               llvm::ArrayRef<unsigned> columns);
  // Asks for a vector of such a row, `position` elements from its start.
  void askForGathered(const GatheredRow &row, Value position);
  // Whether it pays to ask for lines of `load`: of a large array, at places known ahead.
  bool asksFor(const Node *load) const;
  // Asks for what `load` reads so many elements further on.
  void askAhead(const Node *load, int64_t elements);
  // Asks for the line at a place, into the first cache or the second.
  void askForLine(Value place, bool isNear = true);

  // What is written at each vector of a pass over a row (RowResults.cpp), where one is.
  const Reduction *besidePass = nullptr;
  std::function<void(Value start, unsigned lanes, Value mask)> writeBeside;

  std::vector<Node *> live; // every node that is used: set before loops are opened
  // A good number of lanes for a loop of `size` over `nodes`.
  unsigned chooseLanes(int64_t size, llvm::ArrayRef<Node *> nodes) const;

private:
  // The reductions along rows in the order in which they run; by buffer those that read it.
  struct RowPasses {
    llvm::SmallVector<const Reduction *> inOrder;
    llvm::DenseMap<int, llvm::SmallVector<const Reduction *, 4>> ofBuffer;
  };
  static RowPasses passesOver(llvm::ArrayRef<Node *> nodes);
  std::optional<RowPasses> rowPasses; // of what is live
  bool isOfLargeArray(const Node *load) const;
  // Whether nodes are made, along `dims`, of large arrays that no pass over a row has read before.
  bool readsMemory(llvm::ArrayRef<Node *> nodes, DimSet dims);
  // `place` and where the row of the loops that are open begins in what `load` reads, but for what numbers
  // of the program add.
  Value startOfRow(const Node *load, DimSet inRow, Value place);
  // Asks for a vector of what `load` reads, from `place` on.
  void askFor(const Node *load, Value place, bool isNear);
  Value compute(Node *node);
  Value load(Node *node);
  Value maskedLoad(llvm::Type *type, Value pointer, llvm::Align align, Value mask);
  void storePastCaches(Value value, Value to, int64_t bytes, bool isNarrow);
  bool reachesFar(Node *node);
  Value gather(Node *node, Value base, int64_t stride, Value laneOffsets, Value mask);
  int64_t mostApart(ElementKind kind) const;
  Value loadApart(Node *node, Value base, int64_t stride, unsigned count);
  Value loadFarApart(Node *node, Value base, int64_t stride);
  // Of elements near each other, at constant places: one load and a shuffle; null: it is not that.
  Value loadNear(Node *node, Value base, Value perLane, Value mask);
  Value iota(Node *node);
  Value compare(const Node *node, Value a, Value b);
  Value integerDivision(Op op, ElementKind kind, Value a, Value b);
  Value shift(Op op, ElementKind kind, Value a, Value b);
  Value reduced(Node *node);
  llvm::SmallVector<Value> reduce(Reduction &reduction);
  llvm::SmallVector<Value> reduceInTurn(const Reduction &reduction, llvm::ArrayRef<Value> inits,
                                        unsigned lanes);
  // Of two numbers and their places those of the better one, the earlier of equal ones.
  llvm::SmallVector<Value> betterOf(const Reduction &reduction, llvm::ArrayRef<Value> old,
                                    llvm::ArrayRef<Value> fresh);
  // Of the row that is reduced alone, without its inits; none: not by vectors.
  llvm::SmallVector<Value> bestOfRow(const Reduction &reduction);
  // Of a simple reducer without its inits, by the current lanes.
  llvm::SmallVector<Value> orderedSum(const Reduction &reduction, unsigned outerLanes);
  Value chainOfProducts(const Reduction &reduction, unsigned outerLanes);
  // Splits an index over the vector level: scalar part, lane stride, per-lane part (i64 vector or
  // null).
  void split(Index index, Value &base, int64_t &stride, Value &perLane);

  // Rounded numbers of narrow floats, as they are stored: rounding them again would take as long.
  llvm::DenseMap<std::pair<Value, ElementKind>, Value> narrowed;
  llvm::DenseMap<Node *, Value>
      locals; // External nodes and what is computed from them, in a reducer
};

// How many lanes are on, where these are the first ones and known; all without a mask.
std::optional<unsigned> firstLanes(Value mask, unsigned lanes);
// The mask of them.
Value maskOfFirst(llvm::IRBuilder<> &b, int64_t count, unsigned lanes);

} // namespace tessera::codegen
