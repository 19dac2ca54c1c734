// A contraction by tiles of registers: `rows` x (`vectors` * `lanes`) sums are held while k runs,
// a's elements are broadcast, b's read as vectors. Operands that don't lie that way are copied into
// panels in the scratch first. Tiles at the end of a chunk overlap the one before rather than being
// smaller. The tile's values then go through the rest of the kernel's graph, row by row. (Goto &
// van de Geijn 2008, Anatomy of High-Performance Matrix Multiplication, has the general scheme.)
#include "passes/codegen/cpu/ContractionEmitter.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace tessera::codegen {

void ContractionEmitter::overTiles(Value low, Value high, int64_t step, int64_t size,
                                   llvm::function_ref<void(Value, Value)> body) {
  Value start = e.openLoop(low, high, step, false), skip = nullptr;
  if (size > step && size % step != 0) {
    Value moved =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, b.CreateNSWSub(high, e.i64(step)));
    skip = b.CreateNSWSub(start, moved);
    start = moved;
  }
  body(start, skip);
  e.closeLoop();
}

Value ContractionEmitter::flatK() {
  if (flat)
    return flat;
  Value sum = nullptr;
  for (auto [group, stride] : llvm::zip(plan.k, plan.kStride)) {
    Value term = e.variables[group.back()];
    if (stride != 1)
      term = b.CreateNSWMul(term, e.i64(stride));
    sum = sum ? b.CreateNSWAdd(sum, term) : term;
  }
  return sum;
}

Value ContractionEmitter::placeOfK() { return kLow ? b.CreateNSWSub(flatK(), kLow) : flatK(); }

void ContractionEmitter::overRunsOfK(llvm::function_ref<void(Value, Value)> body) {
  const LoopGroup &inner = plan.k.back();
  Value size = e.i64(boundsOf(graph, inner).second);
  llvm::ArrayRef<LoopGroup> around = llvm::ArrayRef(plan.k).drop_back();
  if (around.empty())
    return body(kLow ? kLow : e.i64(0), kHigh ? kHigh : size);
  if (!kLow) {
    for (const LoopGroup &group : around)
      bind(group, e.openLoop(e.i64(0), e.i64(boundsOf(graph, group).second), 1, false));
    body(e.i64(0), size);
    for (size_t i = 0; i < around.size(); ++i)
      e.closeLoop();
    return;
  }
  // A block begins and ends anywhere in a run.
  llvm::SmallVector<unsigned> dims;
  for (const LoopGroup &group : around)
    dims.append(group.begin(), group.end());
  Value end = b.CreateUDiv(b.CreateNSWAdd(kHigh, b.CreateNSWSub(size, e.i64(1))), size);
  Value number = e.openLoop(b.CreateUDiv(kLow, size), end, 1, false);
  e.bindLoop(dims, number);
  Value start = b.CreateNSWMul(number, size);
  body(b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(kLow, start), e.i64(0)),
       b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWSub(kHigh, start), size));
  e.closeLoop();
}

void ContractionEmitter::overK(int64_t step, llvm::function_ref<void()> body) {
  overRunsOfK([&](Value low, Value high) {
    bind(plan.k.back(), e.openLoop(low, high, step, false));
    body();
    e.closeLoop();
  });
}

// Rows are counted through m's loops like digits.
void ContractionEmitter::bindRow(Value row) {
  if (plan.mAround.empty())
    return bind(plan.m, row);
  Value rows = e.i64(boundsOf(graph, plan.m).second);
  bind(plan.m, b.CreateURem(row, rows));
  bindAround(b.CreateUDiv(row, rows));
}

void ContractionEmitter::bindAround(Value number) {
  for (const LoopGroup &group : llvm::reverse(plan.mAround)) {
    bool isOuter = &group == &plan.mAround.front();
    Value size = e.i64(boundsOf(graph, group).second);
    bind(group, isOuter ? number : b.CreateURem(number, size));
    if (!isOuter)
      number = b.CreateUDiv(number, size);
  }
}

//===--- Tiles ---===//

void ContractionEmitter::finishTile(Tile tile, Value place) {
  if (!turnedRows.empty())
    return turnTile(tile, place);
  llvm::Type *row = e.typeOf(kind, plan.columns());
  // What an earlier tile wrote over its own operand must not be done twice.
  bool isShared = function.kernel.sharesBuffers();
  Value from = isShared && tile.skipM ? tile.skipM : e.i64(0), to = e.i64(plan.rows);
  if (rowsLow) {
    using namespace llvm::Intrinsic;
    from = b.CreateBinaryIntrinsic(smax, from, b.CreateNSWSub(rowsLow, tile.m0));
    to = b.CreateBinaryIntrinsic(smin, to, b.CreateNSWSub(rowsHigh, tile.m0));
  }
  Value r = e.openLoop(from, to, 1, rowsLow != nullptr);
  bindRow(b.CreateNSWAdd(tile.m0, r));
  Value sums = e.element(place, kind, b.CreateNSWMul(r, e.i64(plan.columns())));
  finishRow(tile.n0, isShared ? tile.skipN : nullptr,
            b.CreateAlignedLoad(row, sums, llvm::Align(4)));
  e.closeLoop();
}

void ContractionEmitter::finishRow(Value n0, Value skipN, Value sums) {
  unsigned columns = plan.columns();
  Value mask = columnMask();
  if (skipN) {
    llvm::Type *type = llvm::FixedVectorType::get(b.getInt32Ty(), columns);
    Value done = e.splat(b.CreateTrunc(skipN, b.getInt32Ty()), columns);
    mask = b.CreateICmpUGE(b.CreateStepVector(type), done);
  }
  e.openBlock();
  bind(plan.n, n0, columns, mask);
  e.levels.back().values[plan.product] = sums;
  storeRoots();
  e.closeBlock();
}

void ContractionEmitter::storeRoots() {
  llvm::SmallVector<Value> values;
  for (const Root &root : nest.roots)
    values.push_back(e.emit(root.value.re));
  for (auto [root, value] : llvm::zip(nest.roots, values))
    e.store(function.outputBuffer(root.output), root.kind, root.offset, value);
}

void ContractionEmitter::emitTile(Tile tile) {
  auto [m0, n0, skipM, skipN] = tile;
  llvm::SmallVector<Value> sums = makeSums("sum");
  e.openBlock();
  bindRow(m0);
  bind(plan.n, n0);
  askForResults(tile);
  multiply(tile, sums);
  ahead.clear();
  e.closeBlock();
  storeTile(tile, sums);
}

// To the outputs.
void ContractionEmitter::storeTile(Tile tile, llvm::ArrayRef<Value> sums) {
  if (isPlain() || isNarrowed())
    return storeRows(tile, sums);
  Value place = e.temporary(llvm::ArrayType::get(vectorType(), plan.rows * plan.vectors), "tile");
  for (auto [i, sum] : llvm::enumerate(sums))
    b.CreateAlignedStore(b.CreateLoad(vectorType(), sum),
                         b.CreateConstGEP1_64(vectorType(), place, i), llvm::Align(4));
  finishTile(tile, place);
}

// From the registers that hold the sums.
void ContractionEmitter::storeRows(Tile tile, llvm::ArrayRef<Value> sums) {
  const Root &root = nest.roots[0];
  e.openBlock();
  bindRow(tile.m0);
  bind(plan.n, tile.n0);
  Value to = e.element(function.outputBuffer(root.output), root.kind, e.emitIndex(root.offset));
  int64_t stride = *strideOfRows(plan, graph, root.offset);
  auto store = [&](int64_t r, unsigned column, Value value) {
    Value place =
        b.CreateConstGEP1_64(memoryType(root.kind, b.getContext()), to, r * stride + column);
    b.CreateAlignedStore(value, place, llvm::Align(byteSize(root.kind)));
  };
  llvm::SmallVector<int> inOrder(plan.columns());
  std::iota(inOrder.begin(), inOrder.end(), 0);
  for (int64_t r = 0; r < plan.rows; ++r) {
    llvm::SmallVector<Value> row;
    for (Value sum : sums.slice(r * plan.vectors, plan.vectors))
      row.push_back(b.CreateLoad(vectorType(), sum));
    if (isPlain())
      for (auto [v, value] : llvm::enumerate(row))
        store(r, v * plan.lanes, value);
    else
      store(r, 0, e.toMemory(root.kind, b.CreateShuffleVector(row[0], row[1], inOrder)));
  }
  e.closeBlock();
}

//===--- Blocks of k ---===//

Value ContractionEmitter::numberOf(Tile tile) {
  auto at = [&](Value start, Value low, int64_t step) {
    return b.CreateUDiv(b.CreateNSWAdd(b.CreateNSWSub(start, low), e.i64(step - 1)), e.i64(step));
  };
  return b.CreateNSWAdd(b.CreateNSWMul(at(tile.n0, nFirst, plan.columns()),
                                       e.i64(llvm::divideCeil(plan.mChunk, plan.rows))),
                        at(tile.m0, mLow, plan.rows));
}

Value ContractionEmitter::sumsOf(Tile tile) {
  Value all = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchSums);
  return e.element(all, kind, b.CreateNSWMul(numberOf(tile), e.i64(plan.rows * plan.columns())));
}

void ContractionEmitter::addBlock(Tile tile) {
  llvm::SmallVector<Value> sums = makeSums("sum");
  Value place = sumsOf(tile);
  auto at = [&](size_t i) { return b.CreateConstGEP1_64(vectorType(), place, int64_t(i)); };
  for (auto [i, sum] : llvm::enumerate(sums))
    b.CreateStore(b.CreateAlignedLoad(vectorType(), at(i), llvm::Align(4)), sum);
  e.openBlock();
  bindRow(tile.m0);
  bind(plan.n, tile.n0);
  findNextBlock(tile);
  multiply(tile, sums);
  ahead.clear();
  e.closeBlock();
  for (auto [i, sum] : llvm::enumerate(sums))
    b.CreateAlignedStore(b.CreateLoad(vectorType(), sum), at(i), llvm::Align(4));
}

void ContractionEmitter::emitBlocks() {
  b.CreateMemSet(b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchSums), b.getInt8(0),
                 plan.sumElements() * byteSize(kind), llvm::Align(64));
  auto [first, end] = termsThere();
  kLow = e.openLoop(first, end, plan.kBlock, false);
  kHigh =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(kLow, e.i64(plan.kBlock)), end);
  overPanels([&](Tile tile) { addBlock(tile); });
  e.closeLoop();
  kLow = kHigh = nullptr;
  overTiles(nLow, nHigh, plan.columns(), plan.nSize, [&](Value n0, Value skipN) {
    bool isTurned = !turnedRows.empty();
    if (isTurned) {
      panelLow = e.openLoop(mLow, mHigh, plan.mPanel, false);
      panelHigh = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                          b.CreateNSWAdd(panelLow, e.i64(plan.mPanel)), mHigh);
      overTiles(panelLow, panelHigh, plan.rows, plan.mSize, [&](Value m0, Value skipM) {
        Tile tile{m0, n0, skipM, skipN};
        turnTile(tile, sumsOf(tile));
      });
      finishPanel(n0, skipN);
      return e.closeLoop();
    }
    overTiles(mLow, mHigh, plan.rows, rowsInTiles(), [&](Value m0, Value skipM) {
      Tile tile{m0, n0, skipM, skipN};
      Value place = sumsOf(tile);
      if (!isPlain() && !isNarrowed())
        return finishTile(tile, place);
      llvm::SmallVector<Value> sums = makeSums("sum");
      for (auto [i, sum] : llvm::enumerate(sums)) {
        Value from = b.CreateConstGEP1_64(vectorType(), place, int64_t(i));
        b.CreateStore(b.CreateAlignedLoad(vectorType(), from, llvm::Align(4)), sum);
      }
      storeTile(tile, sums);
    });
  });
}

//===--- Cells ---===//

void ContractionEmitter::emitPoint() {
  if (plan.kBlock)
    return emitBlocks();
  if (plan.terms)
    return emitTerms();
  overPanels([&](Tile tile) { emitTile(tile); });
}

std::pair<Value, Value> ContractionEmitter::termsThere() {
  constexpr int64_t block = Reduction::chainBlock;
  Value first = e.i64(0), end = e.i64(plan.kSize);
  if (!plan.terms)
    return {first, end};
  auto clamped = [&](Node *node, Value low, int64_t high) {
    Value least = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, e.emit(node), low);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, least, e.i64(high));
  };
  // Where there are none: a block of zeros.
  if (plan.terms->low)
    first = b.CreateAnd(clamped(plan.terms->low, first, plan.kSize - 1), e.i64(-block));
  if (plan.terms->high) {
    Value last = clamped(plan.terms->high, b.CreateNSWAdd(first, e.i64(1)), plan.kSize);
    Value whole = b.CreateAnd(b.CreateNSWAdd(last, e.i64(block - 1)), e.i64(-block));
    end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, whole, e.i64(plan.kSize));
  }
  return {first, end};
}

void ContractionEmitter::emitTerms() {
  std::tie(kLow, kHigh) = termsThere();
  overPanels([&](Tile tile) {
    llvm::SmallVector<Value> sums = makeSums("sum");
    llvm::for_each(sums, [&](Value sum) { clear(sum); });
    e.openBlock();
    bindRow(tile.m0);
    bind(plan.n, tile.n0);
    multiply(tile, sums);
    e.closeBlock();
    storeTile(tile, sums);
  });
  kLow = kHigh = nullptr;
}

// Copies panels, of all k's or of a block, and runs body for each tile.
void ContractionEmitter::overPanels(llvm::function_ref<void(Tile)> body) {
  bool isByColumns = plan.nPanel < plan.nChunk; // all rows are one panel
  if (plan.packsB && !isByColumns)
    packB();
  panelLow = mLow, panelHigh = mHigh;
  bool isInPanels = plan.mPanel < plan.mChunk;
  if (isInPanels) {
    panelLow = e.openLoop(mLow, mHigh, plan.mPanel, false);
    panelHigh = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                        b.CreateNSWAdd(panelLow, e.i64(plan.mPanel)), mHigh);
    if (rowsLow) // a whole tile
      panelLow = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, panelLow,
                                         b.CreateNSWSub(mHigh, e.i64(plan.rows)));
  }
  if (plan.packsA)
    plan.acrossA ? packAcrossA() : packA(panelLow, panelHigh, plan.panelK());
  Value low = nLow, high = nHigh;
  if (isByColumns) {
    nLow = e.openLoop(low, high, plan.nPanel, false);
    nHigh = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(nLow, e.i64(plan.nPanel)),
                                    high);
    if (plan.packsB)
      packB();
  }
  overTiles(nLow, nHigh, plan.columns(), plan.nSize, [&](Value n0, Value skipN) {
    overTiles(panelLow, panelHigh, plan.rows, rowsInTiles(),
              [&](Value m0, Value skipM) { body({m0, n0, skipM, skipN}); });
    if (!turnedRows.empty() && !plan.kBlock)
      finishPanel(n0, skipN);
  });
  if (isByColumns)
    e.closeLoop();
  nLow = low, nHigh = high;
  if (isInPanels)
    e.closeLoop();
}

void ContractionEmitter::emitCell(Value cell, llvm::Instruction *before) {
  e.openBody(before);
  beginCell();
  int64_t nChunks = llvm::divideCeil(plan.nSize, plan.nChunk);
  int64_t mChunks = llvm::divideCeil(plan.mSize, plan.mChunk);
  Value rest = cell;
  std::tie(mLow, mHigh) = chunkRange(e, takeDigit(e, rest, mChunks), plan.mChunk, plan.mSize);
  std::tie(nLow, nHigh) = chunkRange(e, takeDigit(e, rest, nChunks), plan.nChunk, plan.nSize);
  nFirst = nLow;
  auto [low, high] = chunkRange(e, rest, plan.outerChunk, plan.outerCount);
  rest = e.openLoop(low, high, 1, false);
  for (const LoopGroup &group : llvm::reverse(plan.outer))
    bind(group, takeDigit(e, rest, boundsOf(graph, group).second));
  emitPoint();
  e.closeLoop();
  endCell();
}

void ContractionEmitter::reserveScratch() {
  int64_t sumBytes = byteSize(kind), bytes = plan.isPaired ? 2 : sumBytes;
  if (plan.inTilesA)
    scratchA =
        function.reserveScratch(llvm::divideCeil(plan.mPanel, plan.rows) * plan.tileOfA() * bytes);
  else if (plan.packsA)
    scratchA = function.reserveScratch((plan.acrossA ? plan.packedRows() : plan.mPanel) *
                                       plan.panelK() * bytes);
  // A block's last square reaches past it.
  int64_t behind = plan.acrossB && plan.kBlock ? plan.lanes * plan.columns() : 0;
  if (!turnedRows.empty())
    scratchResults = function.reserveScratch(turnedLength() * plan.lanes * sumBytes);
  if (plan.packsB)
    scratchB = function.reserveScratch(
        (llvm::alignTo(std::min(plan.nPanel, plan.nChunk), plan.columns()) * plan.panelLength() +
         behind) *
        bytes);
  if (plan.kBlock)
    scratchSums = function.reserveScratch(plan.sumElements() * sumBytes);
}

void ContractionEmitter::emit() {
  if (plan.isTurned)
    turnedRows = mergedRows();
  reserveScratch();
  int64_t cells = llvm::divideCeil(plan.nSize, plan.nChunk) *
                  llvm::divideCeil(plan.mSize, plan.mChunk) *
                  llvm::divideCeil(plan.outerCount, plan.outerChunk);
  function.forEachCell(cells,
                       [&](Value cell, llvm::Instruction *before) { emitCell(cell, before); });
}

} // namespace tessera::codegen
