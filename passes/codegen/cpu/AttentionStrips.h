// What attention and its gradient are made of: products of queries and a strip of keys, whose sums
// stay in the scratch, and sums over strips of what is made of them.
#pragma once

#include "passes/codegen/cpu/KeyRange.h"
#include "passes/codegen/cpu/TileEmitter.h"

namespace tessera::codegen {

// The product of queries and keys: its sums go to a place in the scratch.
class StripProduct final : public TileEmitter {
public:
  using TileEmitter::TileEmitter;
  // Of `rows` queries and a strip of keys.
  void reserve(int64_t rows, int64_t strip);
  void packQueries(Value low, Value high);
  void packKeys(Value low, Value high);
  void multiplyInto(Value m0, Value n0, Value place, int64_t stride);
  // Around a cell, where the processor's tiles multiply.
  void openTiles() { TileEmitter::beginCell(); }
  void closeTiles() { TileEmitter::endCell(); }

private:
  // Elements from one row of queries to the next.
  int64_t length() const { return plan.byTiles ? rowLength() : plan.kSize; }
};

// A tile of rows of factors: its first, that of its sums, and the k's that it has (null: all).
struct FactorTile {
  Value m0, row;
  KeyRange keys;
};
using FactorTiles = llvm::function_ref<void(llvm::function_ref<void(FactorTile)>)>;

// Sums over strips: rows of factors, in the scratch too, times rows that are copied.
class StripSums : public TileEmitter {
public:
  using TileEmitter::TileEmitter;

protected:
  // Places for `rows` rows of sums, and for what is multiplied.
  void reserveSums(int64_t rows);
  int64_t panels() const { return llvm::divideCeil(plan.nSize, plan.columns()); }
  void packValues(Value low, Value high);
  // Adds the products of k's in `all` to the sums of the tiles that `overTiles` runs its body for.
  void addProducts(KeyRange all, FactorTiles overTiles);
  void clearSums(Value row);
  // The row that m is bound to, through the rest of the graph to the outputs. `change` gets its sums.
  void finishSums(Value row, llvm::function_ref<Value(Value)> change);
  Value sumsAt(Value panel, Value row) {
    Value at = b.CreateNSWAdd(b.CreateNSWMul(panel, e.i64(sumRows)), row);
    return floats(bytesOf(scratchOutputs), b.CreateNSWMul(at, e.i64(plan.columns())));
  }

  Value bytesOf(int64_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), e.scratch, offset);
  }
  Value floats(Value from, Value index) { return b.CreateInBoundsGEP(b.getFloatTy(), from, index); }
  Value smaller(Value x, Value y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); }
  Value larger(Value x, Value y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y); }
  Value load(llvm::Type *type, Value from) {
    return b.CreateAlignedLoad(type, from, llvm::Align(4));
  }
  void store(Value value, Value to) { b.CreateAlignedStore(value, to, llvm::Align(4)); }
  void overPanels(llvm::function_ref<void(Value panel)> body) {
    body(e.openLoop(e.i64(0), e.i64(panels()), 1, false));
    e.closeLoop();
  }
  // Rows of factors of bf16, as they are multiplied.
  int64_t factorLength() const { return plan.byTiles ? rowLength() : plan.panelK(); }
  Value factorsOf(Value r) {
    return bytesFrom(bytesOf(scratchA), b.CreateNSWMul(r, e.i64(factorLength() * 2)));
  }
  void storeFactors(Value factors, Value row, Value k) {
    Value bits = e.toMemory(ElementKind::BF16, factors);
    b.CreateAlignedStore(plan.isPaired ? pairedOrder(bits) : bits,
                         bytesFrom(row, b.CreateNSWMul(k, e.i64(2))), llvm::Align(2));
  }

private:
  void packValuePairs(Value low, Value high);
  void addTile(FactorTile tile, Value panel, KeyRange keys);
  void addByUnits(Value factors, Value sums, Value panel, KeyRange keys);

  int64_t sumRows = 0, scratchOutputs = 0;
};

} // namespace tessera::codegen
