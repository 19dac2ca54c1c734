// Products of f16 and bf16 by the tensor cores of warps (mma.sync, WarpMatrices.h).
#include "passes/codegen/gpu/CoreSums.h"
#include "passes/codegen/kernel/ContractionWork.h"
#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen::gpu {

namespace {

class CoreProducts : public CoreSums {
public:
  CoreProducts(EntryFunction &function, NestGraph &nest, const ProductLoops &loops)
      : CoreSums(function, nest, loops, Multiplier::Cores), matrices(e, kLayout, isBf16) {}

private:
  void placeThread() override {
    CoreSums::placeThread();
    matrices.lane = lane;
    matrices.shared = shared;
  }
  void multiply(Value stageOffset) override;

  WarpMatrices matrices;
};

} // namespace

void CoreProducts::multiply(Value stageOffset) {
  Value k = e.openLoop(constant(0), constant(tile.depth), kMmaTerms, /*mayBeEmpty=*/false);
  auto rowsFrom = [&](Value warp, int64_t each, int64_t at) {
    return b.CreateNSWAdd(b.CreateNSWMul(warp, constant(each)), constant(at));
  };
  WarpOperand ofLeft{left.shape, stageOffset};
  WarpOperand ofRight{right.shape, b.CreateNSWAdd(stageOffset, constant(rightOffset))};
  std::vector<WarpMatrices::Fragment> ofA, ofB;
  for (int64_t i = 0; i < rowTiles(); ++i)
    ofA.push_back(matrices.load(ofLeft, true, rowsFrom(warpRow, tile.warpRows, i * kMmaRows), k));
  for (int64_t j = 0; j < columnTiles(); j += 2) // two at a time
    ofB.push_back(
        matrices.load(ofRight, false, rowsFrom(warpColumn, tile.warpColumns, j * kMmaColumns), k));
  llvm::ArrayRef<Value> slots = parts;
  for (int64_t i = 0; i < rowTiles(); ++i)
    for (int64_t j = 0; j < columnTiles(); ++j, slots = slots.drop_front(4))
      matrices.multiply(ofA[i], ofB[j / 2], j % 2, slots.take_front(4));
  e.closeLoop();
}

bool isForCores(const ContractionLoops &loops) {
  ElementKind a = unwidened(loops.a)->kind, b = unwidened(loops.b)->kind;
  return loops.product->kind == ElementKind::F32 && a == b && loops.kSize >= kMmaTerms &&
         (a == ElementKind::BF16 || a == ElementKind::F16);
}

void emitProductByCores(EntryFunction &function, NestGraph &nest, const ProductLoops &loops) {
  CoreProducts(function, nest, loops).emit();
}

} // namespace tessera::codegen::gpu
