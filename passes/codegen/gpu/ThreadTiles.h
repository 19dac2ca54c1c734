// Products by fused multiply-adds: slices lie k by k, [depth][rows], and a thread adds up the outer
// products of its rows and columns.
#pragma once

#include "passes/codegen/gpu/SliceLoader.h"

namespace tessera::codegen::gpu {

// What a warp writes of several k's lies in banks of its own. Of `Apart`, lines of rows lie four elements more
// apart than they are long: the eight terms (of f64 four) of a sector and as many rows as the warp has meet each
// bank once, whether they come one by one or by runs. Of `Turned`, rows change places in eights by fours of k,
// which takes no memory, but keeps only runs of four terms apart. Those that a thread reads together stay
// together.
class ThreadLayout final : public SliceLayout {
public:
  enum Spread { Apart, Turned };

  ThreadLayout(ElementKind kind, Spread spread) : elementKind(kind), spread(spread) {}
  ElementKind kind() const override { return elementKind; }
  int64_t pitch(int64_t extent) const { return extent + (spread == Apart ? apart() : 0); }
  int64_t elements(const SliceShape &shape) const override {
    return shape.depth * pitch(shape.extent);
  }
  Value place(llvm::IRBuilder<> &b, const SliceShape &shape, Value row, Value k) const override {
    return b.CreateNSWAdd(b.CreateNSWMul(k, b.getInt64(pitch(shape.extent))),
                          b.CreateXor(row, turnOf(b, k)));
  }
  int64_t termsTogether(const SliceShape &shape) const override {
    constexpr int64_t sector = 32;
    return spread == Apart ? std::min(shape.depth, sector / byteSize(elementKind)) : shape.depth;
  }
  bool isRun(const SliceShape &shape, int64_t lanes) const override {
    return !shape.alongK || lanes == 1;
  }

  static constexpr int64_t leastExtent = 32; // that rows change places in
  // Of a k and those up to the next multiple of four: bits of a row that are exchanged.
  Value turnOf(llvm::IRBuilder<> &b, Value k) const {
    if (spread == Apart)
      return b.getInt64(0);
    return b.CreateShl(b.CreateAnd(b.CreateLShr(k, 2), b.getInt64(3)), 3);
  }

private:
  int64_t apart() const { return std::max<int64_t>(4, kAccessBytes / byteSize(elementKind)); }

  ElementKind elementKind;
  Spread spread;
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
void multiplyByThread(Emitter &e, Value shared, const ThreadLayout &layout,
                      const ThreadOperand &left, const ThreadOperand &right, int64_t depth,
                      llvm::ArrayRef<Value> slots);

} // namespace tessera::codegen::gpu
