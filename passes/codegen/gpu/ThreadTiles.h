// Products by fused multiply-adds: slices lie k by k, [depth][rows], and a thread adds up the outer
// products of its rows and columns.
#pragma once

#include "passes/codegen/gpu/SliceLoader.h"

namespace tessera::codegen::gpu {

// Rows change places in eights, by fours of k, so that what a warp writes of several k's lies in banks of
// its own. Those that a thread reads together stay together.
class ThreadLayout final : public SliceLayout {
public:
  explicit ThreadLayout(ElementKind kind) : elementKind(kind) {}
  ElementKind kind() const override { return elementKind; }
  int64_t elements(const SliceShape &shape) const override { return shape.depth * shape.extent; }
  Value place(llvm::IRBuilder<> &b, const SliceShape &shape, Value row, Value k) const override {
    return b.CreateNSWAdd(b.CreateNSWMul(k, b.getInt64(shape.extent)),
                          b.CreateXor(row, turnOf(b, k)));
  }
  bool isRun(const SliceShape &shape, int64_t lanes) const override {
    return !shape.alongK || lanes == 1;
  }

  static constexpr int64_t leastExtent = 32; // that rows change places in
  static Value turnOf(llvm::IRBuilder<> &b, Value k) {
    return b.CreateShl(b.CreateAnd(b.CreateLShr(k, 2), b.getInt64(3)), 3);
  }

private:
  ElementKind elementKind;
};

// Rows, or columns, of a thread: `groups` times `together` side by side, evenly apart.
struct ThreadRun {
  Value first = nullptr; // of the first group
  int64_t groups = 1, together = 1;
  int64_t count() const { return groups * together; }
};

// A slice, and the terms in it from which on it is multiplied.
struct ThreadOperand {
  int64_t extent = 0;
  Value place = nullptr, k0 = nullptr;
  ThreadRun run;
};

// slots[row, column] += the sum over `depth` terms of left[row] * right[column].
void multiplyByThread(Emitter &e, Value shared, ElementKind kind, const ThreadOperand &left,
                      const ThreadOperand &right, int64_t depth, llvm::ArrayRef<Value> slots);

} // namespace tessera::codegen::gpu
