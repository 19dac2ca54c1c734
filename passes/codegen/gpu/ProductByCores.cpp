// Products of f16 and bf16 by tensor cores (WarpMatrices.h).
//
// The 16 products and what was added up before are one sum of the processor's, in f32; these sums come
// in the order of k, in blocks of 4,096 terms, and then the sums of blocks (docs/numbers.md).
#include "passes/codegen/gpu/ProductEmitter.h"
#include "passes/codegen/gpu/WarpMatrices.h"
#include "passes/codegen/kernel/ContractionWork.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

const CoreLayout kLayout;

class CoreProducts : public ProductEmitter {
public:
  CoreProducts(EntryFunction &function, NestGraph &nest, const ContractionLoops &loops)
      : ProductEmitter(function, nest, loops, Multiplier::Cores, kLayout),
        matrices(e, kLayout, unwidened(loops.a)->kind == ElementKind::BF16) {}

private:
  int64_t blockOfK() const override { return Reduction::tileBlock; }
  Node *sourceOf(Node *operand) override { return bitsOfOperand(graph, operand); }
  void makeSums() override;
  void multiply(Value stageOffset) override;
  void addBlock() override { addAndClear(sums, parts); }
  void stageSums(Value group) override;
  // Four lines of sums' pairs lie side by side in the banks.
  int64_t pitch() const override { return tile.columns + 8; }
  Value rowOf(Value group, Value row) override;

  int64_t rowTiles() const { return tile.warpRows / kMmaRows; } // of a warp
  int64_t columnTiles() const { return tile.warpColumns / kMmaColumns; }
  int64_t groupTiles() const { return rowTiles() / tile.rowGroups; }
  Value bits(Value value, int64_t mask, int64_t from) {
    return b.CreateAnd(from ? b.CreateLShr(value, from) : value, constant(mask));
  }

  WarpMatrices matrices;
  Value lane = nullptr, warpRow = nullptr, warpColumn = nullptr; // numbers of warps
  llvm::SmallVector<Value> parts, sums; // by row tile, column tile, and four of a thread
};

} // namespace

void CoreProducts::makeSums() {
  lane = bits(function.thread, kWarp - 1, 0);
  matrices.lane = lane;
  matrices.shared = shared;
  Value warp = b.CreateLShr(function.thread, llvm::Log2_64(kWarp));
  warpColumn = bits(warp, tile.columnWarps() - 1, 0);
  warpRow = b.CreateLShr(warp, llvm::Log2_64(tile.columnWarps()));
  int64_t count = rowTiles() * columnTiles() * 4;
  parts = makeSlots(count, "part");
  if (isInBlocks())
    sums = makeSlots(count, "sum");
}

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

// Of a warp's rows each group has as many, side by side.
Value CoreProducts::rowOf(Value group, Value row) {
  int64_t each = groupTiles() * kMmaRows;
  Value warp = b.CreateLShr(row, llvm::Log2_64(each));
  Value within = b.CreateNSWAdd(b.CreateNSWMul(group, constant(each)), bits(row, each - 1, 0));
  return b.CreateNSWAdd(b.CreateNSWMul(warp, constant(tile.warpRows)), within);
}

// A thread has two elements side by side of row lane / 4, and two of the row eight further on.
void CoreProducts::stageSums(Value group) {
  const auto &slots = sums.empty() ? parts : sums;
  Value firstRow = b.CreateNSWAdd(b.CreateNSWMul(warpRow, constant(groupTiles() * kMmaRows)),
                                  b.CreateLShr(lane, 2));
  Value firstColumn = b.CreateNSWAdd(b.CreateNSWMul(warpColumn, constant(tile.warpColumns)),
                                     b.CreateShl(bits(lane, 3, 0), 1));
  for (int64_t i = 0; i < groupTiles(); ++i)
    for (int64_t j = 0; j < columnTiles(); ++j)
      for (int64_t half = 0; half < 2; ++half) {
        Value pair = llvm::PoisonValue::get(e.typeOf(sumKind(), 2));
        for (int64_t number = 0; number < 2; ++number) {
          Value sum = ofGroup(group, tile.rowGroups, [&](int64_t which) {
            int64_t tileNumber = (which * groupTiles() + i) * columnTiles() + j;
            return slots[tileNumber * 4 + half * 2 + number];
          });
          pair = b.CreateInsertElement(pair, sum, number);
        }
        Value row = b.CreateNSWAdd(firstRow, constant(i * kMmaRows + half * 8));
        Value at = b.CreateNSWAdd(b.CreateNSWMul(row, constant(pitch())),
                                  b.CreateNSWAdd(firstColumn, constant(j * kMmaColumns)));
        b.CreateAlignedStore(pair, sharedPlace(sumKind(), at), llvm::Align(8));
      }
}

bool isForCores(const ContractionLoops &loops) {
  ElementKind a = unwidened(loops.a)->kind, b = unwidened(loops.b)->kind;
  return loops.product->kind == ElementKind::F32 && a == b && loops.kSize >= kMmaTerms &&
         (a == ElementKind::BF16 || a == ElementKind::F16);
}

void emitProductByCores(EntryFunction &function, NestGraph &nest, const ContractionLoops &loops) {
  CoreProducts(function, nest, loops).emit();
}

} // namespace tessera::codegen::gpu
