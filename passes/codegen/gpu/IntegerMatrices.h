// Products of integers of 8 bits by tensor cores: a warp multiplies 16 rows by 8 columns over 32 terms at a time
// (mma.sync), and a thread's operands of it are four terms side by side of a row. Slices lie as the operands do in
// memory, [rows][depth] or [depth][rows], each line 16 bytes longer than it has to be.
//
// Where terms are lines, ldmatrix turns pairs of bytes: of lines k and k + 1 a thread gets rows 2g and 2g + 1. Of two
// such pairs it makes four terms of each of the rows:
//
//   lines 4q, 4q + 1:      a0 b0 a1 b1  \   a0 a1 a2 a3     row 2g
//   lines 4q + 2, 4q + 3:  a2 b2 a3 b3  /   b0 b1 b2 b3     row 2g + 1
//
// So eights of rows are the even ones and the odd ones there. Lines that one matrix has follow each other in shared
// memory, so that they meet no bank twice: 0 1 4 5 8 9 12 13, then 2 3 6 7 10 11 14 15.
#pragma once

#include "passes/codegen/gpu/WarpMatrices.h"

namespace tessera::codegen::gpu {

inline constexpr int64_t kByteTerms = 32; // of an instruction

class ByteLayout final : public SliceLayout {
public:
  ElementKind kind() const override { return ElementKind::U8; }
  int64_t elements(const SliceShape &shape) const override {
    return (shape.alongK ? shape.extent : shape.depth) * lineOf(shape);
  }
  Value place(llvm::IRBuilder<> &b, const SliceShape &shape, Value row, Value k) const override;
  bool isRun(const SliceShape &, int64_t) const override { return true; }
  static int64_t lineOf(const SliceShape &shape) {
    return (shape.alongK ? shape.depth : shape.extent) + kAccessBytes;
  }
};

class ByteMatrices {
public:
  ByteMatrices(Emitter &e, bool isLeftSigned, bool isRightSigned)
      : e(e), b(e.b), isLeftSigned(isLeftSigned), isRightSigned(isRightSigned) {}
  Value shared = nullptr, lane = nullptr; // known when code is written

  // Of 16 rows and 32 terms: the first 16 terms of both eights of rows, then the others.
  using Fragment = std::array<Value, 4>;
  Fragment load(const WarpOperand &operand, Value row, Value k);
  // Adds to the four sums of a thread: of 16 rows and one of the eights of columns of `right`.
  void multiply(const Fragment &left, const Fragment &right, int64_t eight,
                llvm::ArrayRef<Value> slots);

private:
  Emitter &e;
  llvm::IRBuilder<> &b;
  bool isLeftSigned, isRightSigned;
};

} // namespace tessera::codegen::gpu
