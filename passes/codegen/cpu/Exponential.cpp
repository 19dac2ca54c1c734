// exp in f32: 2^n exp(r), with the exponent and its bias from the low bits of a sum.
#include "passes/codegen/cpu/VectorMath.h"

#include "llvm/ADT/bit.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {

using Value = llvm::Value *;

static float single(uint32_t pattern) { return llvm::bit_cast<float>(pattern); }

Value VectorMath::exp(Value x) {
  auto numberOf = [&](uint32_t pattern) { return number(x, single(pattern)); };
  // Beyond these the result is 0 or infinite anyhow. Ordered comparisons leave NaN alone.
  Value y = select(b.CreateFCmpOLT(x, number(x, -87.8f)), number(x, -87.8f), x);
  y = select(b.CreateFCmpOGT(y, number(x, 88.8f)), number(x, 88.8f), y);
  // Adding 1.5 * 2^23 rounds to an integer, and leaves it in the low bits; 127 is the bias.
  Value magic = number(x, 12582912.0 + 127);
  Value shifted = fma(y, numberOf(0x3fb8aa3b), magic);
  Value n = b.CreateFSub(shifted, magic);
  Value r = fma(n, numberOf(0xbf318000), y); // ln 2 in two parts
  r = fma(n, numberOf(0x395e8083), r);
  // exp(r) - 1 = r + r^2 Q(r)
  Value q = numberOf(0x39506967);
  for (uint32_t coefficient : {0x3ab743ceu, 0x3c088908u, 0x3d2aa9c1u, 0x3e2aaaaau, 0x3f000000u})
    q = fma(q, r, numberOf(coefficient));
  q = fma(q, b.CreateFMul(r, r), r);
  // No number is 2^128: n is 127 at most, and one doubling more does the rest.
  Value most = number(x, 12582912.0 + 254);
  Value exponent = select(b.CreateFCmpOGT(shifted, most), most, shifted);
  Value power = b.CreateBitCast(b.CreateShl(bits(exponent), 23), x->getType());
  Value result = fma(q, power, power);
  return fma(result, b.CreateFSub(shifted, exponent), result);
}

} // namespace tessera::codegen
