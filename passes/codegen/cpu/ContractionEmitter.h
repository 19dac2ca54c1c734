// What emits a contraction: its panels (ContractionPanels.cpp), its tiles and cells
// (Contraction.cpp), what a tile multiplies (ContractionMultiply.cpp), results by columns
// (ContractionColumns.cpp). The plan has been made (ContractionPlan.cpp).
#pragma once

#include "passes/codegen/cpu/Contraction.h"
#include "passes/codegen/cpu/LoopNest.h"

namespace tessera::codegen {

// A tile's first row and column, and how many of its rows and columns an earlier tile has done
// (null: none).
struct Tile {
  Value m0, n0, skipM, skipN;
};

class ContractionEmitter {
public:
  // `emitter`: of the nest's graph.
  ContractionEmitter(KernelFunction &function, NestGraph &nest, const ContractionPlan &plan,
                     Emitter &emitter)
      : function(function), nest(nest), plan(plan), graph(nest.g->graph), e(emitter), b(e.b),
        kind(plan.product->kind) {
    e.live = Graph::reachable(nest.rootNodes());
  }
  virtual ~ContractionEmitter() = default;
  void emit();

protected:
  virtual void reserveScratch();
  virtual void beginCell() {}
  virtual void emitPoint(); // one point of the outer loops
  virtual void endCell() {}

  void emitCell(Value cell, llvm::Instruction *before);
  // a's rows [low, high), one after the other, `length` elements apart, k contiguous.
  void packA(Value low, Value high, int64_t length);
  void packB();
  Value panelOfB(Value n0); // where the panel that begins at this column lies
  // Runs body for each run along k's innermost loop, of all k's or of the block, with its range.
  void overRunsOfK(llvm::function_ref<void(Value low, Value high)> body);
  void overRunsOfB(llvm::function_ref<void(Value low, Value high)> body);
  void overK(int64_t step, llvm::function_ref<void()> body);
  // Runs body for each run along m's innermost loop of the panel's rows, with its range, and the row
  // of the panel where its 0 would be.
  void overRunsOfM(llvm::function_ref<void(Value low, Value high, Value row)> body);
  // [low, high) of a loop by vectors; `mask`: of the last one, where few lanes are left.
  void byVectors(const LoopGroup &group, Value low, Value high, unsigned lanes,
                 llvm::function_ref<void(Value start, Value mask)> body);
  void storeLanes(Value value, Value place, int64_t align, Value mask);
  Value loadLanes(Value place, Value mask); // of b's kind, as many as a register has
  void packAcrossA();
  void copyRows(Node *node, const LoopGroup &along, Value low, Value high, unsigned lanes,
                int64_t size, llvm::function_ref<Value(Value)> placeOf);
  Value tileOfA(Value m0); // where the tile that begins at this row lies
  void packAcrossB(Value n0, Value panel);
  void packRunOfB(Value n0, Value panel, Value low, Value high);
  // How far rows of b are apart, where they are read as they lie, along `inner`: a square's are at one
  // place then, and constants from it, and LLVM finds no variable for each.
  std::optional<int64_t> rowsApart(const LoopGroup &inner);
  // Where such a row begins, and so many elements behind it.
  Value startOfRow(Value row, int64_t behind);
  Value rowOfB(Value row); // by the current lanes
  void packPairsAcrossB(Value n0, Value panel);
  Value pairedOrder(Value row);
  Value pairsOfRow(Value row, ElementKind read);
  // Elements of the two rows of a pair of slots of a or b in turn; `lanes` of them from `start` on
  // in `group`.
  Value pairs(Node *node, llvm::ArrayRef<unsigned> group, Value start, unsigned lanes, Value mask);
  void emitTile(Tile tile);
  void storeTile(Tile tile, llvm::ArrayRef<Value> sums);
  void storeRows(Tile tile, llvm::ArrayRef<Value> sums);
  void multiply(Tile tile, llvm::ArrayRef<Value> sums);
  void overPanels(llvm::function_ref<void(Tile)> body);
  // The terms that are not left out, in whole blocks of the order of addition.
  std::pair<Value, Value> termsThere();
  void emitTerms();
  // The sums of blocks of k, which wait in the scratch.
  void emitBlocks();
  void addBlock(Tile tile);
  Value numberOf(Tile tile); // of a cell's tiles: a moved one has the number that it would have had
  Value sumsOf(Tile tile);   // a place for each tile, also of those that overlap
  void multiplyInEnds(Tile tile, llvm::ArrayRef<Value> sums);
  void multiplyBlock(Tile tile, Value low, Value high, llvm::ArrayRef<unsigned> along,
                     llvm::ArrayRef<Value> sums);
  bool isPlain() { // the sums are the result
    return hasRowsOf(plan.product);
  }
  // The same but for one instruction that narrows two registers of them.
  bool isNarrowed() {
    Node *value = nest.roots[0].value.re;
    return function.features.bf16Words && plan.vectors == 2 &&
           nest.roots[0].kind == ElementKind::BF16 && value->op == Op::Convert &&
           value->operands[0] == plan.product && hasRowsOf(value);
  }
  // Whether whole rows of `value` are all that is stored of a tile.
  bool hasRowsOf(const Node *value) {
    return !rowsLow && nest.roots.size() == 1 && nest.roots[0].value.re == value && !columnMask() &&
           !plan.isTurned && strideOfRows(plan, graph, nest.roots[0].offset);
  }
  void fetchAhead(Value fromB);
  // The sums, rows of columns at `place`, through the rest of the graph to the outputs.
  void finishTile(Tile tile, Value place);
  // Where results lie side by side along rows: the sums are turned, and wait in the scratch for all
  // rows of the panel.
  void turnTile(Tile tile, Value place);
  // Rows of a column there. Not of a power of two: columns lie in different sets of the caches.
  int64_t turnedLength() const;
  void finishPanel(Value n0, Value skipN);
  // All loops of m, where results and what they are combined with lie as if they were one.
  LoopGroup mergedRows() const;
  // One row of them, for which m is bound.
  void finishRow(Value n0, Value skipN, Value sums);
  void storeRoots();
  // For what comes from memory while a tile multiplies (ContractionAhead.cpp).
  void askForResults(Tile tile);
  void findAhead(Value n0);
  void findNextPanel(Tile tile);
  void findNextBlock(Tile tile);
  int64_t linesAhead() const;
  int64_t stepsOfTile() const { return plan.kBlock ? plan.kBlock : plan.kSize; }
  int64_t stepsOfGroup() const; // of k, between which lines are asked for
  void askInGroup(Value group);
  void askForLine(Value number);
  std::vector<Node *> nodesAfterSums() const;

  void bind(llvm::ArrayRef<unsigned> group, Value variable, unsigned lanes = 1,
            Value mask = nullptr) {
    e.bindLevel(group.back(), setOf(group), variable, lanes, mask);
  }
  // The same of loops that are one for what is emitted now only.
  void bindMerged(llvm::ArrayRef<unsigned> group, Value variable, unsigned lanes, Value mask) {
    for (unsigned dim : group.drop_back())
      e.variables[dim] = nullptr;
    bind(group, variable, lanes, mask);
  }
  void bindRow(Value row);       // m's loops
  void bindAround(Value number); // those around the innermost one
  // Position in the flattened k of the k loops' variables, or of the one loop over panels.
  Value flatK();
  Value placeOfK(); // the same in the panels
  bool readsPanels() const { return plan.packsA && plan.packsB; }
  llvm::Type *vectorType() { return e.typeOf(kind, plan.lanes); }
  llvm::SmallVector<Value> makeSums(const char *name) {
    llvm::SmallVector<Value> sums;
    for (int64_t i = 0; i < plan.rows * plan.vectors; ++i)
      sums.push_back(e.temporary(vectorType(), name));
    return sums;
  }
  void clear(Value sum) { b.CreateStore(llvm::Constant::getNullValue(vectorType()), sum); }
  void addTo(Value sum, Value term) {
    Value old = b.CreateLoad(vectorType(), sum);
    b.CreateStore(plan.isOfIntegers() ? b.CreateAdd(old, term) : b.CreateFAdd(old, term), sum);
  }
  // old + left * right; of pairs, both their products.
  Value multiplyAdd(Value old, Value left, Value right);
  // Which of the columns [first, first + count) exist; null when all do.
  Value columnMask(int64_t first, int64_t count) {
    if (plan.nSize >= plan.columns())
      return nullptr;
    return maskOfFirst(b, plan.nSize - first, unsigned(count));
  }
  Value columnMask() { return columnMask(0, plan.columns()); }
  // Runs body with the start of each tile in [low, high). The last one is moved back to end at
  // `high`: by how much is `skip` (null: no tile is).
  void overTiles(Value low, Value high, int64_t step, int64_t size,
                 llvm::function_ref<void(Value start, Value skip)> body);

  // Of rows that tiles go over: of some that are stored the last tile is always moved back.
  int64_t rowsInTiles() const { return rowsLow ? 2 * plan.rows + 1 : plan.mSize; }

  KernelFunction &function;
  NestGraph &nest;
  const ContractionPlan &plan;
  Graph &graph;
  Emitter &e;
  llvm::IRBuilder<> &b;
  ElementKind kind;
  Value mLow, mHigh, nLow, nHigh; // of a cell, or of its columns that are copied at a time
  Value nFirst;                   // of a cell
  Value panelLow, panelHigh;      // rows of a that are worked on: of a panel, where they are copied
  Value rowsLow = nullptr,
        rowsHigh = nullptr; // that are stored, of those that are worked on; null: all
  Value flat = nullptr;     // the variable of a loop over panels
  Value flatRun = nullptr;  // where a run of b's loops of k begins
  LoopGroup turnedRows;     // all of m's loops, where results lie side by side along them
  Value kLow = nullptr, kHigh = nullptr; // of a block
  // A tile's part of an array: where its rows begin, how far they are apart, and how many lines they have.
  struct RowsAhead {
    Value start;
    int64_t apart, linesOfRow, rows;
    int64_t lines() const { return rows * linesOfRow; }
  };
  llvm::SmallVector<RowsAhead> ahead; // that the tile asks for
  int64_t scratchA = 0, scratchB = 0, scratchSums = 0, scratchResults = 0;
};

// By the processor's own tiles.
void emitContractionByTiles(KernelFunction &function, NestGraph &nest, const ContractionPlan &plan);

} // namespace tessera::codegen
