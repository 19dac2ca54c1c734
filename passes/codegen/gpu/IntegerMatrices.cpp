#include "passes/codegen/gpu/IntegerMatrices.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::codegen::gpu {

// Of the lines that are terms the bits 3 2 1 0 of a number become 1 3 2 0.
Value ByteLayout::place(llvm::IRBuilder<> &b, const SliceShape &shape, Value row, Value k) const {
  if (shape.alongK)
    return b.CreateNSWAdd(b.CreateNSWMul(row, b.getInt64(lineOf(shape))), k);
  auto moved = [&](int64_t mask, int64_t by) {
    Value bits = b.CreateAnd(k, b.getInt64(mask));
    return by < 0 ? b.CreateLShr(bits, -by) : b.CreateShl(bits, by);
  };
  Value line = b.CreateOr(b.CreateOr(moved(~14, 0), moved(12, -1)), moved(2, 2));
  return b.CreateNSWAdd(b.CreateNSWMul(line, b.getInt64(lineOf(shape))), row);
}

ByteMatrices::Fragment ByteMatrices::load(const WarpOperand &operand, Value row, Value k) {
  auto bit = [&](int64_t number, int64_t times) {
    return b.CreateNSWMul(b.CreateAnd(b.CreateLShr(lane, number), e.i64(1)), e.i64(times));
  };
  // Eight lanes name the lines of a matrix: eights of rows, of 16 terms each; or of eight terms.
  bool alongK = operand.shape.alongK;
  Value inMatrix = b.CreateAnd(lane, e.i64(7));
  Value line = b.CreateNSWAdd(alongK ? row : k, b.CreateOr(inMatrix, bit(3, 8)));
  Value at = alongK ? b.CreateNSWAdd(k, bit(4, 16)) : row;
  if (!alongK)
    line = b.CreateNSWAdd(line, bit(4, 16));
  Value place = b.CreateNSWMul(line, e.i64(ByteLayout::lineOf(operand.shape)));
  place = b.CreateNSWAdd(b.CreateNSWAdd(operand.place, place), at);
  auto id = alongK ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
                   : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16;
  Value from = e.element(shared, ElementKind::U8, place);
  Value loaded = b.CreateIntrinsic(id, {from->getType()}, {from});
  Fragment found;
  for (unsigned i = 0; i < 4; ++i)
    found[i] = b.CreateExtractValue(loaded, i);
  if (alongK)
    return found;
  Fragment turned;
  constexpr int64_t kEvenBytes = 0x6420, kOddBytes = 0x7531;
  for (unsigned i = 0; i < 4; ++i)
    turned[i] = b.CreateIntrinsic(
        llvm::Intrinsic::nvvm_prmt, {},
        {found[i & 2], found[(i & 2) + 1], b.getInt32(i & 1 ? kOddBytes : kEvenBytes)});
  return turned;
}

void ByteMatrices::multiply(const Fragment &left, const Fragment &right, int64_t eight,
                            llvm::ArrayRef<Value> slots) {
  llvm::SmallVector<Value> given(left.begin(), left.end());
  given.append({right[eight], right[eight + 2]});
  for (Value slot : slots)
    given.push_back(b.CreateLoad(b.getInt32Ty(), slot));
  auto id = isLeftSigned ? (isRightSigned ? llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8
                                          : llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8_u8)
                         : (isRightSigned ? llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8_s8
                                          : llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8);
  Value added = b.CreateIntrinsic(id, {}, given);
  for (auto [number, slot] : llvm::enumerate(slots))
    b.CreateStore(b.CreateExtractValue(added, number), slot);
}

} // namespace tessera::codegen::gpu
