// Products by fused multiply-adds (ThreadTiles.h). Each sum is the cpu's, bit for bit: in the order of k in blocks of
// 128, then the sums of blocks (docs/numbers.md). Those of integers are exact but for what wraps.
#include "passes/codegen/gpu/ProductEmitter.h"
#include "passes/codegen/gpu/ThreadTiles.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

ThreadLayout layoutOf(ElementKind kind) { return {kind, ThreadLayout::Apart}; }

class ThreadProducts : public ProductEmitter {
public:
  using ProductEmitter::ProductEmitter;

private:
  int64_t blockOfK() const override {
    return loops.product->reduction->isOfIntegers ? loops.kSize : Reduction::chainBlock;
  }
  void placeThread() override;
  int64_t sumsOfThread() const override { return rows() * columns(); } // by row, column
  void multiply(Value stageOffset) override;
  void stageSums(Value group) override;
  Value rowOf(Value group, Value row) override {
    return b.CreateNSWAdd(b.CreateNSWMul(group, constant(tile.groupRows())), row);
  }

  int64_t rows() const { return tile.rowGroups * tile.together; } // of a thread
  int64_t columns() const { return tile.columnGroups * tile.together; }

  Value threadRow = nullptr, threadColumn = nullptr; // first of a thread's first group
};

} // namespace

void ThreadProducts::placeThread() {
  int64_t across = tile.columnThreads();
  threadColumn =
      b.CreateNSWMul(b.CreateAnd(function.thread, constant(across - 1)), constant(tile.together));
  threadRow =
      b.CreateNSWMul(b.CreateLShr(function.thread, llvm::Log2_64(across)), constant(tile.together));
}

void ThreadProducts::multiply(Value stageOffset) {
  Value ofRight = b.CreateNSWAdd(stageOffset, constant(rightOffset));
  ThreadOperand rows{tile.rows, stageOffset, nullptr, {threadRow, tile.rowGroups, tile.together}};
  ThreadOperand columns{
      tile.columns, ofRight, nullptr, {threadColumn, tile.columnGroups, tile.together}};
  multiplyByThread(e, shared, layoutOf(sumKind()), rows, columns, tile.depth, parts);
}

void ThreadProducts::stageSums(Value group) {
  int64_t together = tile.together;
  for (int64_t row = 0; row < together; ++row) {
    Value line = b.CreateNSWMul(b.CreateNSWAdd(threadRow, constant(row)), constant(tile.columns));
    for (int64_t run = 0; run < tile.columnGroups; ++run) {
      Value values = llvm::PoisonValue::get(e.typeOf(sumKind(), together));
      for (int64_t i = 0; i < together; ++i) {
        Value sum = ofGroup(group, tile.rowGroups, [&](int64_t number) {
          return results()[(number * together + row) * columns() + run * together + i];
        });
        values = b.CreateInsertElement(values, sum, i);
      }
      Value column = b.CreateNSWAdd(threadColumn, constant(run * tile.columns / tile.columnGroups));
      b.CreateAlignedStore(values, sharedPlace(sumKind(), b.CreateNSWAdd(line, column)),
                           llvm::Align(together * byteSize(sumKind())));
    }
  }
}

void emitProductByThreads(EntryFunction &function, NestGraph &nest, const ProductLoops &loops) {
  bool isDouble = loops.product->kind == ElementKind::F64;
  ThreadLayout layout = layoutOf(loops.product->kind);
  ThreadProducts(function, nest, loops, isDouble ? Multiplier::F64 : Multiplier::F32, layout)
      .emit();
}

} // namespace tessera::codegen::gpu
