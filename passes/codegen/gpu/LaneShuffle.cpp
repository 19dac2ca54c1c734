#include "passes/codegen/gpu/LaneShuffle.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::codegen::gpu {

using llvm::Value;

static constexpr unsigned kWord = 32; // bits that are handed on at once

static Value *wordFromLane(llvm::IRBuilder<> &b, Value *word, int64_t distance, uint32_t lanes) {
  return b.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                           {b.getInt32(lanes), word, b.getInt32(static_cast<uint32_t>(distance)),
                            b.getInt32(kWord - 1)});
}

Value *fromLane(llvm::IRBuilder<> &b, Value *value, int64_t distance, uint32_t lanes) {
  llvm::Type *type = value->getType(), *word = b.getInt32Ty();
  llvm::Type *bits = b.getIntNTy(type->getScalarSizeInBits());
  Value *number = b.CreateBitCast(value, bits);
  Value *low = wordFromLane(b, b.CreateZExtOrTrunc(number, word), distance, lanes);
  Value *other = b.CreateZExtOrTrunc(low, bits);
  if (bits->getIntegerBitWidth() > kWord) {
    Value *upper = b.CreateTrunc(b.CreateLShr(number, kWord), word);
    upper = b.CreateZExt(wordFromLane(b, upper, distance, lanes), bits);
    other = b.CreateOr(other, b.CreateShl(upper, kWord));
  }
  return b.CreateBitCast(other, type);
}

} // namespace tessera::codegen::gpu
