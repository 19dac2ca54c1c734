// x / d in f32, where all lanes and many steps share d: r = 1 / d once, then for each x a product with r and
// what that leaves of x (Markstein 1990, Computation of elementary functions on the IBM RISC System/6000
// processor):
//
//   q = x r     left = q d - x     x / d = q - left r     each rounded once
//
// It is the quotient rounded correctly for any two significands of 24 bits: what is left, though of 25 bits
// at times, is off by less than 2^-22 of q's last place, and all pairs whose quotient is within 2^-20 of it
// from where rounding changes have been tried. Significands and exponents are apart (VGETMANT, VGETEXP), so
// that nothing between is too large or too small, and the exponents alone make the result 0, infinite or NaN.
//
// It takes 4 cycles a register for 10, but nine instructions for one. A loop that waits for memory divides
// meanwhile, and with more instructions looks less far ahead (Emitter::takesReciprocal).
#include "passes/codegen/cpu/VectorMath.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tessera::codegen {

using Value = llvm::Value *;

static constexpr uint32_t currentRounding = 4;

Value VectorMath::significand(Value x) {
  constexpr uint32_t fromOneToTwo = 0; // with the sign of x
  return byRegisters({x}, [&](llvm::ArrayRef<Value> part) {
    return b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_getmant_ps_512, {},
        {part[0], b.getInt32(fromOneToTwo), part[0], b.getInt16(-1), b.getInt32(currentRounding)});
  });
}

Value VectorMath::exponent(Value x) {
  return byRegisters({x}, [&](llvm::ArrayRef<Value> part) {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_getexp_ps_512, {},
                             {part[0], part[0], b.getInt16(-1), b.getInt32(currentRounding)});
  });
}

Value VectorMath::quotientByShared(Value x, Value divisor) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!looksUp || !type || !type->getElementType()->isFloatTy())
    return nullptr;
  Value shared = llvm::getSplatValue(divisor);
  if (!shared)
    return nullptr;
  auto *constant = llvm::dyn_cast<llvm::ConstantFP>(shared);
  if (constant && constant->getValueAPF().getExactInverse(nullptr))
    return nullptr; // a product
  auto everywhere = [&](Value of) { return b.CreateVectorSplat(type->getNumElements(), of); };
  Value significandOfShared = significand(shared);
  Value d = everywhere(significandOfShared);
  Value r = everywhere(b.CreateFDiv(number(shared, 1), significandOfShared));
  Value m = significand(x);
  Value q = b.CreateFMul(m, r);
  Value left = fma(q, d, b.CreateFNeg(m));
  return scale(fma(b.CreateFNeg(left), r, q),
               b.CreateFSub(exponent(x), everywhere(exponent(shared))));
}

} // namespace tessera::codegen
