#include "passes/codegen/gpu/ThreadTiles.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

// A thread's rows, or columns, of one k.
static llvm::SmallVector<Value> elementsOf(Emitter &e, Value shared, const ThreadLayout &layout,
                                           const ThreadOperand &operand, Value k, Value turn) {
  llvm::IRBuilder<> &b = e.b;
  ElementKind kind = layout.kind();
  const ThreadRun &run = operand.run;
  Value pitch = e.i64(layout.pitch(operand.extent));
  Value line = b.CreateNSWAdd(operand.place, b.CreateNSWMul(k, pitch));
  llvm::SmallVector<Value> elements;
  for (int64_t group = 0; group < run.groups; ++group) {
    Value first = b.CreateNSWAdd(run.first, e.i64(group * operand.extent / run.groups));
    Value place = b.CreateNSWAdd(line, b.CreateXor(first, turn));
    Value loaded = b.CreateAlignedLoad(e.typeOf(kind, run.together), e.element(shared, kind, place),
                                       llvm::Align(run.together * byteSize(kind)));
    for (int64_t i = 0; i < run.together; ++i)
      elements.push_back(run.together > 1 ? b.CreateExtractElement(loaded, i) : loaded);
  }
  return elements;
}

void multiplyByThread(Emitter &e, Value shared, const ThreadLayout &layout,
                      const ThreadOperand &left, const ThreadOperand &right, int64_t depth,
                      llvm::ArrayRef<Value> slots) {
  llvm::IRBuilder<> &b = e.b;
  ElementKind kind = layout.kind();
  // About as many multiply-adds for each jump.
  int64_t unrolled = std::clamp<int64_t>(128 / (left.run.count() * right.run.count()), 1, 4);
  llvm::Type *type = e.typeOf(kind, 1);
  Value first = e.openLoop(e.i64(0), e.i64(depth), unrolled, /*mayBeEmpty=*/false);
  auto termsOf = [&](const ThreadOperand &operand, int64_t i) {
    Value from = operand.k0 ? b.CreateNSWAdd(first, operand.k0) : first;
    Value turn = layout.turnOf(b, from);
    return elementsOf(e, shared, layout, operand, i ? b.CreateNSWAdd(from, e.i64(i)) : from, turn);
  };
  for (int64_t i = 0; i < unrolled; ++i) {
    auto rows = termsOf(left, i), columns = termsOf(right, i);
    const Value *slot = slots.begin();
    for (Value row : rows)
      for (Value column : columns) {
        Value sum = b.CreateLoad(type, *slot);
        sum = isFloat(kind) ? b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {row, column, sum})
                            : b.CreateAdd(b.CreateMul(row, column), sum);
        b.CreateStore(sum, *slot++);
      }
  }
  e.closeLoop();
}

} // namespace tessera::codegen::gpu
