// exp in f32: 2^n exp(r).
#include "passes/codegen/cpu/VectorMath.h"

#include "llvm/ADT/bit.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <numeric>

namespace tessera::codegen {

using Value = llvm::Value *;

static float single(uint32_t pattern) { return llvm::bit_cast<float>(pattern); }

// x 2^n, register by register, for LLVM does not split the instruction.
static Value scaled(llvm::IRBuilder<> &b, Value x, Value n) {
  constexpr int lanes = 16, asTheModeSays = 4;
  llvm::SmallVector<Value> registers;
  for (int first = 0, count = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
       first < count; first += lanes) {
    llvm::SmallVector<int> order(lanes);
    std::iota(order.begin(), order.end(), first);
    Value part = b.CreateShuffleVector(x, order), by = b.CreateShuffleVector(n, order);
    registers.push_back(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                                          {part, by, llvm::Constant::getNullValue(part->getType()),
                                           b.getInt16(-1), b.getInt32(asTheModeSays)}));
  }
  return llvm::concatenateVectors(b, registers);
}

// The same number with and without the instruction that multiplies by a power of two.
Value VectorMath::exp(Value x) {
  auto numberOf = [&](uint32_t pattern) { return number(x, single(pattern)); };
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  bool isScaled = scales && vector && vector->getNumElements() % 16 == 0;
  // Beyond these the result is 0 or infinite anyhow. Ordered comparisons leave NaN alone.
  Value y = select(b.CreateFCmpOLT(x, number(x, -87.8f)), number(x, -87.8f), x);
  y = select(b.CreateFCmpOGT(y, number(x, 88.8f)), number(x, 88.8f), y);
  // Adding 1.5 * 2^23 rounds to an integer, and leaves it in the low bits; 127 is the bias.
  Value magic = number(x, 12582912.0 + 127);
  Value shifted = fma(y, numberOf(0x3fb8aa3b), magic);
  Value n = b.CreateFSub(shifted, magic);
  Value r = fma(n, numberOf(0xbf318000), y); // ln 2 in two parts
  r = fma(n, numberOf(0x395e8083), r);
  // exp(r) - 1 = r + r^2 Q(r); 3e-9
  Value q = numberOf(0x3ab5121d);
  for (uint32_t coefficient : {0x3c091cf0u, 0x3d2aac79u, 0x3e2aaa49u, 0x3efffffeu})
    q = fma(q, r, numberOf(coefficient));
  q = fma(q, b.CreateFMul(r, r), r);
  if (isScaled)
    return scaled(b, b.CreateFAdd(q, number(x, 1)), n);
  // No number is 2^128: n is 127 at most, and one doubling more does the rest.
  Value most = number(x, 12582912.0 + 254);
  Value exponent = select(b.CreateFCmpOGT(shifted, most), most, shifted);
  Value power = b.CreateBitCast(b.CreateShl(bits(exponent), 23), x->getType());
  Value result = fma(q, power, power);
  return fma(result, b.CreateFSub(shifted, exponent), result);
}

} // namespace tessera::codegen
