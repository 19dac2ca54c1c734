#include "passes/codegen/cpu/BfloatPairs.h"

#include "passes/codegen/cpu/FloatMath.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::codegen {

using Value = llvm::Value *;

static llvm::FixedVectorType *vectorTypeOf(Value value) {
  return llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
}

// Both to bf16, as one integer of 32 bits.
static Value roundedPair(llvm::IRBuilder<> &b, Value high, Value low) {
  Value pair = b.CreateIntrinsic(llvm::Intrinsic::nvvm_ff2bf16x2_rn, {}, {high, low});
  return b.CreateBitCast(pair, b.getInt32Ty());
}

static Value upperHalves(llvm::IRBuilder<> &b, Value high, Value low) {
  constexpr uint32_t kUpperHalves = 0x7632; // of both, by bytes
  Value words[] = {b.CreateBitCast(low, b.getInt32Ty()), b.CreateBitCast(high, b.getInt32Ty()),
                   b.getInt32(kUpperHalves)};
  return b.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {}, words);
}

static Value rounded(llvm::IRBuilder<> &b, Value value) {
  return roundedPair(b, value, llvm::ConstantFP::get(value->getType(), 0));
}

// Of two numbers one integer of 32 bits, which has both as bf16.
using PairOf = llvm::function_ref<Value(Value high, Value low)>;

static Value narrowed(llvm::IRBuilder<> &b, Value value, PairOf pairOf) {
  llvm::FixedVectorType *vector = vectorTypeOf(value);
  auto one = [&](Value number) {
    Value pair = pairOf(number, llvm::ConstantFP::get(number->getType(), 0));
    return b.CreateTrunc(b.CreateLShr(pair, 16), b.getInt16Ty());
  };
  if (!vector)
    return one(value);
  unsigned lanes = vector->getNumElements();
  llvm::Type *words = likeType(vector, b.getInt16Ty());
  if (lanes % 2 != 0) {
    Value all = llvm::PoisonValue::get(words);
    for (unsigned i = 0; i < lanes; ++i)
      all = b.CreateInsertElement(all, one(b.CreateExtractElement(value, i)), i);
    return all;
  }
  Value pairs = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getInt32Ty(), lanes / 2));
  for (unsigned i = 0; i < lanes; i += 2)
    pairs = b.CreateInsertElement(
        pairs, pairOf(b.CreateExtractElement(value, i + 1), b.CreateExtractElement(value, i)),
        i / 2);
  return b.CreateBitCast(pairs, words);
}

Value narrowPairsToBf16(llvm::IRBuilder<> &b, Value value) {
  return narrowed(b, value, [&](Value high, Value low) { return roundedPair(b, high, low); });
}

Value narrowPairsOfBf16(llvm::IRBuilder<> &b, Value value) {
  return narrowed(b, value, [&](Value high, Value low) { return upperHalves(b, high, low); });
}

Value roundPairsToBf16(llvm::IRBuilder<> &b, Value value) {
  llvm::FixedVectorType *vector = vectorTypeOf(value);
  if (!vector)
    return b.CreateBitCast(rounded(b, value), b.getFloatTy());
  Value all = llvm::PoisonValue::get(vector);
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    Value one = rounded(b, b.CreateExtractElement(value, i));
    all = b.CreateInsertElement(all, b.CreateBitCast(one, b.getFloatTy()), i);
  }
  return all;
}

Value widenPairsOfBf16(llvm::IRBuilder<> &b, Value stored) {
  llvm::FixedVectorType *vector = vectorTypeOf(stored);
  llvm::Type *numbers = likeType(stored->getType(), b.getFloatTy());
  if (!vector || vector->getNumElements() % 2 != 0) {
    Value wide = b.CreateZExt(stored, likeType(stored->getType(), b.getInt32Ty()));
    return b.CreateBitCast(b.CreateShl(wide, 16), numbers);
  }
  unsigned pairs = vector->getNumElements() / 2;
  auto *type = llvm::FixedVectorType::get(b.getInt32Ty(), pairs);
  Value both = b.CreateBitCast(stored, type);
  Value low = b.CreateShl(both, 16);
  Value high = b.CreateAnd(both, llvm::ConstantInt::get(type, 0xffff0000));
  llvm::SmallVector<int> order;
  for (unsigned i = 0; i < pairs; ++i)
    order.append({static_cast<int>(i), static_cast<int>(pairs + i)});
  return b.CreateBitCast(b.CreateShuffleVector(low, high, order), numbers);
}

} // namespace tessera::codegen
