#include "passes/codegen/gpu/WarpMatrices.h"

#include "passes/codegen/kernel/ContractionWork.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::codegen::gpu {

Node *bitsOfOperand(Graph &graph, Node *operand) {
  Node *narrow = unwidened(operand);
  if (Node *moved = graph.movedBits(narrow))
    return moved;
  if (narrow->op == Op::Load && isInteger(narrow->kind) && narrow->operands.empty())
    return graph.load(bitsKind(bitWidth(narrow->kind)), narrow->buffer(), narrow->index,
                      narrow->mask);
  return graph.make(Op::Bitcast, bitsKind(bitWidth(narrow->kind)), {narrow});
}

WarpMatrices::Fragment WarpMatrices::load(const WarpOperand &operand, bool isLeft, Value row,
                                          Value k) {
  auto bit = [&](int64_t number) { return b.CreateAnd(b.CreateLShr(lane, number), e.i64(1)); };
  // Eight lanes name the lines of a matrix, which are rows, or terms.
  Value inMatrix = b.CreateAnd(lane, e.i64(7)), second = bit(3), fourth = bit(4);
  Value rowEight = b.CreateShl(isLeft ? second : fourth, 3);
  Value termEight = b.CreateShl(isLeft ? fourth : second, 3);
  Value &lines = operand.shape.alongK ? rowEight : termEight;
  lines = b.CreateOr(lines, inMatrix);
  Value offset =
      b.CreateNSWAdd(operand.place, layout.place(b, operand.shape, b.CreateNSWAdd(row, rowEight),
                                                 b.CreateNSWAdd(k, termEight)));
  auto id = operand.shape.alongK ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
                                 : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16;
  Value from = e.element(shared, layout.kind(), offset);
  Value loaded = b.CreateIntrinsic(id, {from->getType()}, {from});
  Fragment registers;
  for (unsigned i = 0; i < 4; ++i)
    registers.push_back(b.CreateExtractValue(loaded, i));
  return registers;
}

void WarpMatrices::multiply(const Fragment &left, const Fragment &right, int64_t half,
                            llvm::ArrayRef<Value> slots) {
  auto operand = [&](Value value) { // f16 comes as pairs
    return isBf16 ? value : b.CreateBitCast(value, llvm::FixedVectorType::get(b.getHalfTy(), 2));
  };
  llvm::SmallVector<Value> given;
  for (Value value : left)
    given.push_back(operand(value));
  for (int64_t i = 0; i < 2; ++i)
    given.push_back(operand(right[half * 2 + i]));
  for (Value slot : slots)
    given.push_back(b.CreateLoad(b.getFloatTy(), slot));
  auto id = isBf16 ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16
                   : llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
  Value added = b.CreateIntrinsic(id, {}, given);
  for (auto [number, slot] : llvm::enumerate(slots))
    b.CreateStore(b.CreateExtractValue(added, number), slot);
}

} // namespace tessera::codegen::gpu
