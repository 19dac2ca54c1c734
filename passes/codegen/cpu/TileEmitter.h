// What emits a contraction by the processor's own tiles; ContractionTiles.cpp says how they multiply.
#pragma once

#include "passes/codegen/cpu/ContractionEmitter.h"

namespace tessera::codegen {

class TileEmitter : public ContractionEmitter {
public:
  using ContractionEmitter::ContractionEmitter;

protected:
  void reserveScratch() override;
  void beginCell() override;
  void emitPoint() override;
  void endCell() override;

  void packColumns();
  void packPairs();
  void storePair(Value panel, Value k, Value pair);
  void packRows(Value m0);
  void packRowsAcross(Value m0);
  Value rowOfBits(Node *node, Value k, llvm::ArrayRef<unsigned> group, Value start, unsigned lanes,
                  Value mask);
  Value interleaved(Value even, Value odd);

  void emitSums(Tile tile);
  void emitBlocks();
  void addToSums(Value sums, Value part);
  // Where a tile's rows of a begin, and the bytes from one to the next.
  std::pair<Value, int64_t> rowsOfA(Tile tile);
  void multiplyUnits(Value rows, int64_t stride, Value panel, Value low, Value high);
  void storeSums(Value to, int64_t stride);

  static constexpr int64_t side = 16; // of a tile of sums
  // Rows begin in different cache sets.
  int64_t rowLength() const { return plan.panelK() + Reduction::tileUnit; }
  int64_t tileRows() const { return llvm::divideCeil(plan.rows, side); }
  llvm::Type *bitsType(unsigned lanes) { return llvm::FixedVectorType::get(b.getInt16Ty(), lanes); }
  Value bytesFrom(Value pointer, Value bytes) {
    return b.CreateInBoundsGEP(b.getInt8Ty(), pointer, bytes);
  }
  Value bytesFrom(Value pointer, int64_t bytes) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), pointer, bytes);
  }
  Value alignedTemporary(int64_t bytes, const char *name) {
    Value place = e.temporary(llvm::ArrayType::get(b.getInt8Ty(), bytes), name);
    llvm::cast<llvm::AllocaInst>(place)->setAlignment(llvm::Align(64));
    return place;
  }

  int64_t scratchTurned = 0;
};

} // namespace tessera::codegen
