// Functions of numbers of bf16 in f32, just near enough: rounded to bf16, as each result is, they are what
// the exact value rounds to. A quotient of bf16 is never nearer than 2^-17 of itself to where rounding
// changes, so one by a number that many share is a product with its reciprocal; exponentials have been
// tried, all of them.
#include "passes/codegen/cpu/VectorMath.h"

#include "llvm/Analysis/VectorUtils.h"

#include <cmath>

namespace tessera::codegen {

using Value = llvm::Value *;

// 2^n exp(r), n in sixteenths, as of f32 (Exponential.cpp); |r| <= ln 2 / 32.
Value VectorMath::expOfBf16(Value x) {
  Value magic = number(x, 786432); // 1.5 * 2^19
  Value shifted = fma(x, number(x, 1.44269504), magic);
  Value n = b.CreateFSub(shifted, magic);
  Value r = withinMagnitude(fma(n, number(x, -0.693147182), x), 0.03125f);
  Value q = fma(fma(number(x, 0.5015), r, number(x, 1)), r, number(x, 1));
  return scale(b.CreateFMul(lookUp(bits(shifted), powersOfTwo), q), n);
}

// The divisor as m 2^e; both 1 / m and 2^-e are at most 1, or at least: what lies between is too small or
// too large for f32 only where the quotient is.
Value VectorMath::quotientOfBf16(Value x, Value divisor) {
  Value m = significand(divisor), e = exponent(divisor);
  Value isSmall = b.CreateFCmpOLT(e, number(e, 0));
  m = select(isSmall, b.CreateFMul(m, number(m, 0.5)), m);
  e = select(isSmall, b.CreateFAdd(e, number(e, 1)), e);
  // Zero and infinity stay as they are: by an infinite exponent VSCALEF makes numbers of NaN.
  Value isEnd = b.CreateFCmpOEQ(abs(e), number(e, HUGE_VAL));
  m = select(isEnd, divisor, m);
  e = select(isEnd, number(e, 0), e);
  unsigned lanes = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
  // A little more than it is, so that no least normal number comes out as less and becomes zero.
  Value reciprocal = b.CreateVectorSplat(lanes, b.CreateFDiv(number(m, 1 + 0x1p-23), m));
  return scale(b.CreateFMul(x, reciprocal), b.CreateVectorSplat(lanes, b.CreateFNeg(e)));
}

Value VectorMath::applyToBf16(Op op, llvm::ArrayRef<Value> v) {
  if (!looksUp)
    return nullptr;
  if (op == Op::Exp)
    return expOfBf16(v[0]);
  if (op == Op::Div && v[0]->getType()->isVectorTy())
    if (Value divisor = llvm::getSplatValue(v[1]))
      return quotientOfBf16(v[0], divisor);
  return nullptr;
}

} // namespace tessera::codegen
