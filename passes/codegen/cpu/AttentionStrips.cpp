#include "passes/codegen/cpu/AttentionStrips.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

//===--- Queries and keys ---===//

void StripProduct::reserve(int64_t rows, int64_t strip) {
  int64_t bytes = plan.hasPairs() ? 2 : byteSize(kind);
  rows = std::max(rows, plan.acrossA ? plan.packedRows() : 0);
  scratchA = function.reserveScratch(rows * length() * bytes);
  scratchB = function.reserveScratch(llvm::alignTo(strip, plan.columns()) * plan.panelK() * bytes);
}

void StripProduct::packQueries(Value low, Value high) {
  mLow = panelLow = low, mHigh = panelHigh = high;
  plan.acrossA ? packAcrossA() : packA(low, high, length());
  if (!plan.byTiles || plan.kSize == plan.panelK())
    return;
  // What fills up the last unit.
  Value row = b.CreateNSWSub(e.openLoop(low, high, 1, false), low);
  Value to = b.CreateNSWAdd(b.CreateNSWMul(row, e.i64(length())), e.i64(plan.kSize));
  b.CreateAlignedStore(llvm::Constant::getNullValue(bitsType(plan.panelK() - plan.kSize)),
                       bytesFrom(bytesFrom(e.scratch, scratchA), b.CreateNSWMul(to, e.i64(2))),
                       llvm::Align(2));
  e.closeLoop();
}

void StripProduct::packKeys(Value low, Value high) {
  nLow = low, nHigh = high;
  plan.byTiles ? packColumns() : packB();
}

void StripProduct::multiplyInto(Value m0, Value n0, Value place, int64_t stride) {
  if (plan.byTiles) {
    Value row = b.CreateNSWMul(b.CreateNSWSub(m0, mLow), e.i64(length() * 2));
    multiplyUnits(bytesFrom(bytesFrom(e.scratch, scratchA), row), length() * 2, panelOfB(n0),
                  e.i64(0), e.i64(plan.panelK()));
    return storeSums(place, stride * 4);
  }
  llvm::SmallVector<Value> sums = makeSums("score");
  e.openBlock();
  bind(plan.m, m0);
  bind(plan.n, n0);
  multiply({m0, n0, nullptr, nullptr}, sums);
  e.closeBlock();
  for (int64_t r = 0; r < plan.rows; ++r)
    for (unsigned v = 0; v < plan.vectors; ++v)
      b.CreateAlignedStore(
          b.CreateLoad(vectorType(), sums[r * plan.vectors + v]),
          b.CreateConstGEP1_64(b.getFloatTy(), place, r * stride + int64_t(v) * plan.lanes),
          llvm::Align(4));
}

//===--- Sums over keys or queries ---===//

void StripSums::reserveSums(int64_t rows) {
  sumRows = rows;
  int64_t bytes = byteSize(kind);
  scratchB = function.reserveScratch(panels() * plan.panelK() * plan.columns() *
                                     (plan.hasPairs() ? 2 : bytes));
  scratchOutputs = function.reserveScratch(panels() * rows * plan.columns() * bytes);
}

// Rows of values, as the tiles of sums read them.
void StripSums::packValues(Value low, Value high) {
  if (plan.hasPairs())
    return packValuePairs(low, high);
  Value k = e.openLoop(low, high, 1, false);
  bind(plan.k[0], k);
  overTiles(e.i64(0), e.i64(plan.nSize), plan.columns(), plan.nSize, [&](Value n0, Value) {
    Value to = b.CreateNSWMul(b.CreateNSWSub(k, low), e.i64(plan.columns()));
    e.openBlock();
    bind(plan.n, n0, plan.columns(), columnMask());
    store(e.splat(e.emit(plan.b), plan.columns()), floats(panelOfB(n0), to));
    e.closeBlock();
  });
  e.closeLoop();
}

// Pairs of keys lie together; zeros fill up the last unit, or the last pair.
void StripSums::packValuePairs(Value low, Value high) {
  llvm::Type *type = bitsType(plan.columns());
  Value zeros = llvm::Constant::getNullValue(type);
  int64_t unit = plan.byTiles ? Reduction::tileUnit : 2;
  Value end = b.CreateNSWAdd(
      low, b.CreateAnd(b.CreateNSWAdd(b.CreateNSWSub(high, low), e.i64(unit - 1)), e.i64(-unit)));
  Value last = b.CreateNSWSub(high, e.i64(1));
  Value key = e.openLoop(low, end, 2, false);
  overTiles(e.i64(0), e.i64(plan.nSize), plan.columns(), plan.nSize, [&](Value n0, Value) {
    Value rows[2];
    for (int64_t second : {0, 1}) {
      Value k = b.CreateNSWAdd(key, e.i64(second));
      Value row = rowOfBits(plan.b, smaller(k, last), plan.n, n0, plan.columns(), columnMask());
      rows[second] = b.CreateSelect(b.CreateICmpSLE(k, last), b.CreateBitCast(row, type), zeros);
    }
    if (plan.isPaired)
      std::swap(rows[0], rows[1]);
    storePair(panelOfB(n0), b.CreateNSWSub(key, low), interleaved(rows[0], rows[1]));
  });
  e.closeLoop();
}

// A sum is made of sums over blocks of k, one after the other. Values of one block in a panel stay in the
// first-level cache while all tiles go past them.
void StripSums::addProducts(KeyRange all, FactorTiles overTiles) {
  constexpr int64_t block = Reduction::chainBlock;
  auto addWithin = [&](Value panel, KeyRange range) {
    overTiles([&](FactorTile tile) {
      if (!tile.keys.low)
        return addTile(tile, panel, range);
      KeyRange keys{larger(range.low, tile.keys.low), smaller(range.high, tile.keys.high)};
      e.openIf(b.CreateICmpSLT(keys.low, keys.high));
      addTile(tile, panel, keys);
      e.closeLoop();
    });
  };
  overPanels([&](Value panel) {
    if (plan.byTiles)
      return addWithin(panel, all);
    Value from = e.openLoop(b.CreateAnd(all.low, e.i64(-block)), all.high, block, false);
    addWithin(panel, {from, smaller(b.CreateNSWAdd(from, e.i64(block)), all.high)});
    e.closeLoop();
  });
}

void StripSums::addTile(FactorTile tile, Value panel, KeyRange keys) {
  Value n0 = b.CreateNSWMul(panel, e.i64(plan.columns())), to = sumsAt(panel, tile.row);
  if (plan.nSize > plan.columns())
    n0 = smaller(n0, e.i64(plan.nSize - plan.columns()));
  if (plan.byTiles)
    return addByUnits(factorsOf(b.CreateNSWSub(tile.m0, panelLow)), to, panelOfB(n0), keys);
  llvm::SmallVector<Value> parts = makeSums("part");
  llvm::for_each(parts, [&](Value part) { clear(part); });
  multiplyBlock({tile.m0, n0, nullptr, nullptr}, keys.low, keys.high, {}, parts);
  for (auto [i, part] : llvm::enumerate(parts)) {
    Value at = b.CreateConstGEP1_64(b.getFloatTy(), to, int64_t(i) * plan.lanes);
    store(b.CreateFAdd(load(vectorType(), at), b.CreateLoad(vectorType(), part)), at);
  }
}

// Whole units: past the last key factors and values are zeros.
void StripSums::addByUnits(Value factors, Value sums, Value panel, KeyRange keys) {
  int64_t rowBytes = int64_t(plan.columns()) * 4;
  llvm::Type *type = e.typeOf(kind, plan.columns());
  Value parts = alignedTemporary(plan.rows * rowBytes, "parts");
  multiplyUnits(factors, rowLength() * 2, panel, keys.low, keys.high);
  storeSums(parts, rowBytes);
  Value at = b.CreateNSWMul(e.openLoop(e.i64(0), e.i64(plan.rows), 1, false), e.i64(rowBytes));
  Value part = b.CreateAlignedLoad(type, bytesFrom(parts, at), llvm::Align(64));
  Value to = bytesFrom(sums, at);
  store(b.CreateFAdd(load(type, to), part), to);
  e.closeLoop();
}

void StripSums::clearSums(Value row) {
  llvm::Type *type = e.typeOf(kind, plan.columns());
  overPanels([&](Value panel) { store(llvm::Constant::getNullValue(type), sumsAt(panel, row)); });
}

void StripSums::finishSums(Value row, llvm::function_ref<Value(Value)> change) {
  unsigned width = plan.columns();
  overTiles(e.i64(0), e.i64(plan.nSize), width, plan.nSize, [&](Value n0, Value skipN) {
    Value panel = b.CreateUDiv(b.CreateNSWAdd(n0, e.i64(width - 1)), e.i64(width));
    Value sums = change(load(e.typeOf(kind, width), sumsAt(panel, row)));
    finishRow(n0, function.kernel.sharesBuffers() ? skipN : nullptr, sums);
  });
}

} // namespace tessera::codegen
