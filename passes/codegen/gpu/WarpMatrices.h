// Products of f16 and bf16 by tensor cores: a warp multiplies 16 rows by 8 columns over 16 terms at a
// time (mma.sync), its operands brought by ldmatrix from slices that lie as the operands do in memory,
// [rows][depth] or [depth][rows], each line 16 bytes longer than it has to be, so that eight of them meet
// no bank twice.
#pragma once

#include "passes/codegen/gpu/SliceLoader.h"

namespace tessera::codegen::gpu {

inline constexpr int64_t kMmaRows = 16, kMmaColumns = 8, kMmaTerms = 16;

class CoreLayout final : public SliceLayout {
public:
  ElementKind kind() const override { return ElementKind::U16; }
  int64_t elements(const SliceShape &shape) const override {
    return (shape.alongK ? shape.extent : shape.depth) * lineOf(shape);
  }
  Value place(llvm::IRBuilder<> &b, const SliceShape &shape, Value row, Value k) const override {
    Value line = shape.alongK ? row : k, at = shape.alongK ? k : row;
    return b.CreateNSWAdd(b.CreateNSWMul(line, b.getInt64(lineOf(shape))), at);
  }
  bool isRun(const SliceShape &, int64_t) const override { return true; }

private:
  static int64_t lineOf(const SliceShape &shape) {
    constexpr int64_t pad = 8; // elements of 16 bytes
    return (shape.alongK ? shape.depth : shape.extent) + pad;
  }
};

// A slice in shared memory.
struct WarpOperand {
  SliceShape shape;
  Value place = nullptr;
};

class WarpMatrices {
public:
  WarpMatrices(Emitter &e, const CoreLayout &layout, bool isBf16)
      : e(e), b(e.b), layout(layout), isBf16(isBf16) {}
  Value shared = nullptr, lane = nullptr; // known when code is written

  using Fragment = llvm::SmallVector<Value, 4>;
  // Four matrices of 8 rows by 8 terms, of 16 rows and 16 terms from there on: those of one 8 of rows
  // come first where it is the right operand, of one 8 of terms where it is the left.
  Fragment load(const WarpOperand &operand, bool isLeft, Value row, Value k);
  // Adds to the four sums of a thread: of 16 rows and the first or second 8 columns of `right`.
  void multiply(const Fragment &left, const Fragment &right, int64_t half,
                llvm::ArrayRef<Value> slots);

private:
  Emitter &e;
  llvm::IRBuilder<> &b;
  const CoreLayout &layout;
  bool isBf16;
};

// What tensor cores read of an operand: what is only moved goes as its bits; what is computed is rounded
// to its type as it is stored.
Node *bitsOfOperand(Graph &graph, Node *operand);

} // namespace tessera::codegen::gpu
