// Products whose sums lie in the threads of warps as tensor cores have them, by mma.sync and wgmma alike: of 16
// rows by 8 columns a thread has two elements side by side of row lane / 4, and two of the row eight
// further on.
//
// 16 products and what was added up before are one sum of the processor's, in f32; these sums come in the
// order of k, in blocks of 4,096 terms, and then the sums of blocks (docs/numbers.md).
#pragma once

#include "passes/codegen/gpu/ProductEmitter.h"
#include "passes/codegen/gpu/WarpMatrices.h"

namespace tessera::codegen::gpu {

class CoreSums : public ProductEmitter {
public:
  CoreSums(EntryFunction &function, NestGraph &nest, const ProductLoops &loops,
           Multiplier multiplier, const SliceLayout &layout = kLayout);

protected:
  int64_t blockOfK() const override { return Reduction::tileBlock; }
  Node *sourceOf(Node *operand) override { return bitsOfOperand(graph, operand); }
  void placeThread() override;
  // By row tile, column tile, and four of a thread.
  int64_t sumsOfThread() const override { return rowTiles() * columnTiles() * 4; }
  void stageSums(Value group) override;
  // Four lines of sums' pairs lie side by side in the banks.
  int64_t pitch() const override { return tile.columns + 8; }
  Value rowOf(Value group, Value row) override;

  int64_t rowTiles() const { return tile.warpRows / kMmaRows; } // of a warp
  int64_t columnTiles() const { return tile.warpColumns / kMmaColumns; }
  int64_t groupTiles() const { return rowTiles() / tile.rowGroups; }
  // One of the four that a thread has of a tile, of the group's rows.
  Value sumInGroup(Value group, int64_t rowTile, int64_t columnTile, int64_t number);

  static const CoreLayout kLayout;
  const bool isBf16;
  Value lane = nullptr, warpRow = nullptr, warpColumn = nullptr; // numbers of warps

private:
  Value bits(Value value, int64_t mask) { return b.CreateAnd(value, constant(mask)); }
  Value pairOf(Value group, int64_t rowTile, int64_t columnTile, int64_t half);
};

} // namespace tessera::codegen::gpu
