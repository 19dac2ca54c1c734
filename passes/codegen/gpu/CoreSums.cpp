#include "passes/codegen/gpu/CoreSums.h"

#include "passes/codegen/kernel/ContractionWork.h"

namespace tessera::codegen::gpu {

const CoreLayout CoreSums::kLayout;

CoreSums::CoreSums(EntryFunction &function, NestGraph &nest, const ProductLoops &loops,
                   Multiplier multiplier, const SliceLayout &layout)
    : ProductEmitter(function, nest, loops, multiplier, layout),
      isBf16(unwidened(loops.a)->kind == ElementKind::BF16) {}

void CoreSums::placeThread() {
  lane = bits(function.thread, kWarp - 1);
  Value warp = b.CreateLShr(function.thread, llvm::Log2_64(kWarp));
  warpColumn = bits(warp, tile.columnWarps() - 1);
  warpRow = b.CreateLShr(warp, llvm::Log2_64(tile.columnWarps()));
}

// Of a warp's rows each group has as many, side by side.
Value CoreSums::rowOf(Value group, Value row) {
  int64_t each = groupTiles() * kMmaRows;
  Value warp = b.CreateLShr(row, llvm::Log2_64(each));
  Value within = b.CreateNSWAdd(b.CreateNSWMul(group, constant(each)), bits(row, each - 1));
  return b.CreateNSWAdd(b.CreateNSWMul(warp, constant(tile.warpRows)), within);
}

Value CoreSums::sumInGroup(Value group, int64_t rowTile, int64_t columnTile, int64_t number) {
  return ofGroup(group, tile.rowGroups, [&](int64_t which) {
    int64_t tileNumber = (which * groupTiles() + rowTile) * columnTiles() + columnTile;
    return results()[tileNumber * 4 + number];
  });
}

Value CoreSums::pairOf(Value group, int64_t rowTile, int64_t columnTile, int64_t half) {
  Value pair = llvm::PoisonValue::get(e.typeOf(sumKind(), 2));
  for (int64_t number = 0; number < 2; ++number) {
    Value sum = sumInGroup(group, rowTile, columnTile, half * 2 + number);
    pair = b.CreateInsertElement(pair, sum, number);
  }
  return pair;
}

void CoreSums::stageSums(Value group) {
  Value firstRow = b.CreateNSWAdd(b.CreateNSWMul(warpRow, constant(groupTiles() * kMmaRows)),
                                  b.CreateLShr(lane, 2));
  Value firstColumn = b.CreateNSWAdd(b.CreateNSWMul(warpColumn, constant(tile.warpColumns)),
                                     b.CreateShl(bits(lane, 3), 1));
  for (int64_t i = 0; i < groupTiles(); ++i)
    for (int64_t j = 0; j < columnTiles(); ++j)
      for (int64_t half = 0; half < 2; ++half) {
        Value row = b.CreateNSWAdd(firstRow, constant(i * kMmaRows + half * 8));
        Value at = b.CreateNSWAdd(b.CreateNSWMul(row, constant(pitch())),
                                  b.CreateNSWAdd(firstColumn, constant(j * kMmaColumns)));
        b.CreateAlignedStore(pairOf(group, i, j, half), sharedPlace(sumKind(), at), llvm::Align(8));
      }
}

} // namespace tessera::codegen::gpu
