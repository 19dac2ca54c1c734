// exp in f32, twice. Reduction and polynomials are those of XLA:CPU's code, so that results are the
// same bits: one for exponentials at large, one for those of a softmax.
#include "passes/codegen/cpu/VectorMath.h"

#include "llvm/ADT/bit.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {

using Value = llvm::Value *;

static float single(uint32_t pattern) { return llvm::bit_cast<float>(pattern); }

// 1.2 ULP. Where XLA leaves the polynomial's range, above 88.37, this does not.
Value VectorMath::exp(Value x) {
  auto numberOf = [&](uint32_t pattern) { return number(x, single(pattern)); };
  // Beyond these the result is 0 or infinite anyhow. Ordered comparisons leave NaN alone.
  Value y = select(b.CreateFCmpOLT(x, number(x, -87.8f)), number(x, -87.8f), x);
  y = select(b.CreateFCmpOGT(y, number(x, 88.8f)), number(x, 88.8f), y);
  Value n = fma(y, numberOf(0x3fb8aa3b), number(x, 0.5));
  n = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, n);
  Value r = fma(n, numberOf(0xbf318000), y); // ln 2 in two parts
  r = fma(n, numberOf(0x395e8083), r);
  // exp(r) = 1 + r + r^2 Q(r)
  Value q = numberOf(0x39506967);
  for (uint32_t coefficient : {0x3ab743ceu, 0x3c088908u, 0x3d2aa9c1u, 0x3e2aaaaau, 0x3f000000u})
    q = fma(q, r, numberOf(coefficient));
  Value p = b.CreateFAdd(fma(q, b.CreateFMul(r, r), r), number(x, 1));
  Value magic = number(x, 12582912.0); // leaves the integer in the low bits
  return scale(p, b.CreateSub(bits(b.CreateFAdd(n, magic)), bits(magic)));
}

// 1.1 ULP.
Value VectorMath::expOfNonpositive(Value x) {
  auto numberOf = [&](uint32_t pattern) { return number(x, single(pattern)); };
  // Below, the result is 0 anyhow. Ordered comparisons leave NaN alone.
  Value least = numberOf(0xc2b00f34);
  Value y = select(b.CreateFCmpOLT(x, least), least, x);
  // Adding 1.5 * 2^23 rounds to an integer; the product must be rounded first.
  Value n;
  {
    llvm::IRBuilderBase::FastMathFlagGuard guard(b);
    b.setFastMathFlags({});
    Value magic = number(x, 12582912.0);
    n = b.CreateFSub(b.CreateFAdd(b.CreateFMul(y, numberOf(0x3fb8aa3b)), magic), magic);
  }
  // 2^n: the exponent with its bias is in the low bits.
  Value power = b.CreateShl(bits(b.CreateFAdd(n, number(x, 8388735.0))), 23);
  power = b.CreateBitCast(power, x->getType());
  Value r = fma(n, numberOf(0xbf317200), y); // ln 2 in two parts
  r = fma(n, numberOf(0xb5bfbe8e), r);
  // exp(r) - 1 = r + r^2 (E(r^2) + r O(r^2))
  Value square = b.CreateFMul(r, r);
  Value odd = fma(square, numberOf(0x396ecce9), numberOf(0x3c08629e));
  odd = fma(odd, square, numberOf(0x3e2aaad2));
  Value even = fma(square, numberOf(0xb85127e0), numberOf(0x3ab93cac));
  even = fma(even, square, numberOf(0x3d2aa994));
  even = fma(even, square, numberOf(0x3efffffe));
  Value q = fma(fma(odd, r, even), square, r);
  return fma(q, power, power);
}

} // namespace tessera::codegen
