// Products by fused multiply-adds: slices lie k by k, [depth][rows], and a thread adds up the outer
// products of its rows and columns. Each sum is the cpu's, bit for bit: in the order of k in blocks of
// 128, then the sums of blocks (docs/numbers.md).
#include "passes/codegen/gpu/ProductEmitter.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

class ThreadProducts : public ProductEmitter {
public:
  using ProductEmitter::ProductEmitter;

private:
  ElementKind storedKind() const override { return sumKind(); }
  int64_t blockOfK() const override { return Reduction::chainBlock; }
  int64_t sliceElements(const ProductSide &side) const override { return tile.depth * side.extent; }
  bool isRun(const ProductSide &side) const override { return !side.alongK || side.lanes == 1; }
  Value placeInSlice(const ProductSide &side, Value row, Value k) override {
    return b.CreateNSWAdd(b.CreateNSWMul(k, constant(side.extent)), b.CreateXor(row, turnOf(k)));
  }
  void makeSums() override;
  void multiply(Value stageOffset) override;
  void addBlock() override { addAndClear(sums, parts); }
  void stageSums(Value group) override;
  Value rowOf(Value group, Value row) override {
    return b.CreateNSWAdd(b.CreateNSWMul(group, constant(tile.groupRows())), row);
  }

  // Rows change places in eights, by fours of k, so that what a warp writes of several k's lies in banks
  // of its own. Those that a thread reads together stay together.
  Value turnOf(Value k) { return b.CreateShl(b.CreateAnd(b.CreateLShr(k, 2), constant(3)), 3); }
  llvm::SmallVector<Value> elementsOf(const ProductSide &side, Value line, Value first,
                                      int64_t groups, Value turn);
  int64_t rows() const { return tile.rowGroups * tile.together; } // of a thread
  int64_t columns() const { return tile.columnGroups * tile.together; }

  Value threadRow = nullptr, threadColumn = nullptr; // first of a thread's first group
  llvm::SmallVector<Value> parts, sums; // of a block of k, of all blocks: by row, column
};

} // namespace

void ThreadProducts::makeSums() {
  int64_t across = tile.columnThreads();
  threadColumn =
      b.CreateNSWMul(b.CreateAnd(function.thread, constant(across - 1)), constant(tile.together));
  threadRow =
      b.CreateNSWMul(b.CreateLShr(function.thread, llvm::Log2_64(across)), constant(tile.together));
  parts = makeSlots(rows() * columns(), "part");
  if (isInBlocks())
    sums = makeSlots(rows() * columns(), "sum");
}

// A thread's rows, or columns, of one k.
llvm::SmallVector<Value> ThreadProducts::elementsOf(const ProductSide &side, Value line,
                                                    Value first, int64_t groups, Value turn) {
  llvm::SmallVector<Value> elements;
  for (int64_t group = 0; group < groups; ++group) {
    Value row = b.CreateXor(b.CreateNSWAdd(first, constant(group * side.extent / groups)), turn);
    Value loaded = b.CreateAlignedLoad(e.typeOf(sumKind(), tile.together),
                                       sharedPlace(sumKind(), b.CreateNSWAdd(line, row)),
                                       llvm::Align(kAccessBytes));
    for (int64_t i = 0; i < tile.together; ++i)
      elements.push_back(b.CreateExtractElement(loaded, i));
  }
  return elements;
}

void ThreadProducts::multiply(Value stageOffset) {
  // About as many multiply-adds for each jump.
  int64_t unrolled = std::clamp<int64_t>(128 / (rows() * columns()), 1, 4);
  llvm::Type *type = e.typeOf(sumKind(), 1);
  Value first = e.openLoop(constant(0), constant(tile.depth), unrolled, /*mayBeEmpty=*/false);
  Value turn = turnOf(first);
  for (int64_t i = 0; i < unrolled; ++i) {
    Value k = i ? b.CreateNSWAdd(first, constant(i)) : first;
    auto line = [&](const ProductSide &side) {
      return b.CreateNSWAdd(b.CreateNSWAdd(stageOffset, constant(side.offset)),
                            b.CreateNSWMul(k, constant(side.extent)));
    };
    auto ofA = elementsOf(left, line(left), threadRow, tile.rowGroups, turn);
    auto ofB = elementsOf(right, line(right), threadColumn, tile.columnGroups, turn);
    const Value *slot = parts.begin();
    for (Value row : ofA)
      for (Value column : ofB) {
        Value sum = b.CreateLoad(type, *slot);
        b.CreateStore(b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {row, column, sum}), *slot++);
      }
  }
  e.closeLoop();
}

void ThreadProducts::stageSums(Value group) {
  const auto &slots = sums.empty() ? parts : sums;
  int64_t together = tile.together;
  for (int64_t row = 0; row < together; ++row) {
    Value line = b.CreateNSWMul(b.CreateNSWAdd(threadRow, constant(row)), constant(tile.columns));
    for (int64_t run = 0; run < tile.columnGroups; ++run) {
      Value values = llvm::PoisonValue::get(e.typeOf(sumKind(), together));
      for (int64_t i = 0; i < together; ++i) {
        Value sum = ofGroup(group, tile.rowGroups, [&](int64_t number) {
          return slots[(number * together + row) * columns() + run * together + i];
        });
        values = b.CreateInsertElement(values, sum, i);
      }
      Value column = b.CreateNSWAdd(threadColumn, constant(run * tile.columns / tile.columnGroups));
      b.CreateAlignedStore(values, sharedPlace(sumKind(), b.CreateNSWAdd(line, column)),
                           llvm::Align(kAccessBytes));
    }
  }
}

void emitProductByThreads(EntryFunction &function, NestGraph &nest, const ContractionLoops &loops) {
  bool isDouble = loops.product->kind == ElementKind::F64;
  ThreadProducts(function, nest, loops, isDouble ? Multiplier::F64 : Multiplier::F32).emit();
}

} // namespace tessera::codegen::gpu
