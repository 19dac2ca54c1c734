// One operation on scalars or vectors, by StableHLO's rules for the corner cases.
#include "passes/codegen/cpu/BfloatPairs.h"
#include "passes/codegen/cpu/BfloatVectors.h"
#include "passes/codegen/cpu/DoubleMath.h"
#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/cpu/TinyFloat.h"
#include "passes/codegen/cpu/VectorMath.h"
#include "passes/codegen/kernel/InnerProducts.h"

#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {

static llvm::Constant *integer(llvm::Type *type, int64_t value) {
  return llvm::ConstantInt::getSigned(type, value);
}

//===--- Memory and rounding ---===//

// bf16 to nearest, ties to even, on the bit pattern; NaN stays NaN. `isNaNShort`: one is quiet, and its lower half
// zero, so that it stays what it is by itself.
static Value roundToBf16(llvm::IRBuilder<> &b, Value value, bool isNaNShort = false) {
  llvm::Type *bitsType = likeType(value->getType(), b.getInt32Ty());
  Value bits = b.CreateBitCast(value, bitsType);
  Value isOdd = b.CreateAnd(b.CreateLShr(bits, 16), integer(bitsType, 1));
  Value rounded = b.CreateAdd(bits, b.CreateAdd(isOdd, integer(bitsType, 0x7fff)));
  if (!isNaNShort)
    rounded = b.CreateSelect(b.CreateFCmpUNO(value, value),
                             b.CreateOr(bits, integer(bitsType, 0x400000)), rounded);
  return b.CreateBitCast(b.CreateAnd(rounded, integer(bitsType, 0xffff0000)), value->getType());
}

Value Emitter::fromMemory(ElementKind kind, Value stored) {
  llvm::Type *type = stored->getType();
  if (kind == ElementKind::I1)
    return b.CreateICmpNE(stored, llvm::Constant::getNullValue(type));
  if (kind == ElementKind::BF16 && features.bf16Words)
    return widenBf16(b, stored);
  if (kind == ElementKind::BF16 && features.bf16Pairs) {
    Value wide = widenPairsOfBf16(b, stored);
    narrowed[{wide, kind}] = stored;
    return wide;
  }
  if (kind == ElementKind::BF16) {
    Value wide = b.CreateShl(b.CreateZExt(stored, likeType(type, b.getInt32Ty())), 16);
    return b.CreateBitCast(wide, likeType(type, b.getFloatTy()));
  }
  if (kind == ElementKind::F16 && features.f16)
    return b.CreateFPExt(b.CreateBitCast(stored, likeType(type, b.getHalfTy())),
                         likeType(type, b.getFloatTy()));
  if (kind == ElementKind::F16 || isTinyFloat(kind))
    return decodeTinyFloat(b, kind, stored);
  if (isInteger(kind) && bitWidth(kind) < 8)
    return b.CreateTrunc(stored, likeType(type, b.getIntNTy(bitWidth(kind))));
  return stored;
}

Value Emitter::toMemory(ElementKind kind, Value value) {
  llvm::Type *type = value->getType();
  if (kind == ElementKind::I1)
    return b.CreateZExt(value, likeType(type, b.getInt8Ty()));
  if (auto found = narrowed.find({value, kind}); found != narrowed.end())
    return found->second;
  if (kind == ElementKind::BF16 && features.bf16Words)
    return narrowToBf16(b, value);
  if (kind == ElementKind::BF16 && features.bf16Pairs)
    return narrowPairsToBf16(b, value);
  if (kind == ElementKind::BF16 && features.bf16)
    return b.CreateBitCast(b.CreateFPTrunc(value, likeType(type, b.getBFloatTy())),
                           likeType(type, b.getInt16Ty()));
  if (kind == ElementKind::BF16) {
    Value bits = b.CreateBitCast(roundToBf16(b, value), likeType(type, b.getInt32Ty()));
    return b.CreateTrunc(b.CreateLShr(bits, 16), likeType(type, b.getInt16Ty()));
  }
  if (kind == ElementKind::F16 && features.f16)
    return b.CreateBitCast(b.CreateFPTrunc(value, likeType(type, b.getHalfTy())),
                           likeType(type, b.getInt16Ty()));
  if (kind == ElementKind::F16 || isTinyFloat(kind))
    return encodeTinyFloat(b, kind, value);
  if (isInteger(kind) && bitWidth(kind) < 8)
    return isSigned(kind) ? b.CreateSExt(value, likeType(type, b.getInt8Ty()))
                          : b.CreateZExt(value, likeType(type, b.getInt8Ty()));
  return value;
}

Value Emitter::round(ElementKind kind, Value value) {
  if (!isNarrowFloat(kind))
    return value;
  bool isByPairs = kind == ElementKind::BF16 && features.bf16Pairs;
  if (kind == ElementKind::BF16 && !features.bf16 && !isByPairs)
    return roundToBf16(b, value);
  Value stored = toMemory(kind, value);
  Value rounded = isByPairs ? roundPairsToBf16(b, value) : fromMemory(kind, stored);
  narrowed[{rounded, kind}] = stored;
  return rounded;
}

// f64 to f32 so that rounding once more gives what rounding the f64 would (S. Boldo and G.
// Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
// odd", 2008): an inexact result keeps a one in its last place.
static Value roundToOdd(llvm::IRBuilder<> &b, Value value) {
  llvm::Type *single = likeType(value->getType(), b.getFloatTy());
  llvm::Type *bitsType = likeType(value->getType(), b.getInt32Ty());
  Value nearest = b.CreateFPTrunc(value, single);
  Value back = b.CreateFPExt(nearest, value->getType());
  Value isAway = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                 b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  Value bits = b.CreateBitCast(nearest, bitsType);
  Value towardsZero = b.CreateSub(bits, b.CreateZExt(isAway, bitsType));
  Value isInexact = b.CreateFCmpONE(back, value);
  bits = b.CreateOr(towardsZero, b.CreateZExt(isInexact, bitsType));
  return b.CreateBitCast(bits, single);
}

// Whether a float is zero, or is none, as what computes with it takes it: a subnormal one is. Of bits that come as an
// integer's LLVM makes a comparison of floats with zero one of integers, to which a subnormal number is none; a test of
// the exponent it turns into such a comparison where it can.
static Value comparedWithZero(llvm::IRBuilder<> &b, Value value, bool isEqual) {
  Value seen = b.CreateUnaryIntrinsic(llvm::Intrinsic::arithmetic_fence, value);
  auto predicate = isEqual ? llvm::CmpInst::FCMP_OEQ : llvm::CmpInst::FCMP_UNE;
  return b.CreateFCmp(predicate, seen, llvm::ConstantFP::get(value->getType(), 0));
}

Value Emitter::convert(Value value, ElementKind from, ElementKind to) {
  if (from == to)
    return value;
  llvm::Type *type = value->getType();
  llvm::Type *target = likeType(type, computeType(to, b.getContext()));
  if (isFloat(from) && isFloat(to)) {
    if (from == ElementKind::F64) {
      return to == ElementKind::F32 ? b.CreateFPTrunc(value, target)
                                    : round(to, roundToOdd(b, value));
    }
    if (to == ElementKind::F64)
      return b.CreateFPExt(value, target);
    return round(to, value);
  }
  if (isFloat(from)) {
    if (to == ElementKind::I1)
      return comparedWithZero(b, value, /*isEqual=*/false);
    // Saturates; NaN becomes 0.
    auto intrinsic = isSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b.CreateIntrinsic(intrinsic, {target, type}, {value});
  }
  if (isFloat(to)) {
    Value number = isSigned(from) ? b.CreateSIToFP(value, target) : b.CreateUIToFP(value, target);
    return round(to, number);
  }
  if (to == ElementKind::I1)
    return b.CreateICmpNE(value, llvm::Constant::getNullValue(type));
  return isSigned(from) ? b.CreateSExtOrTrunc(value, target) : b.CreateZExtOrTrunc(value, target);
}

//===--- Integers ---===//

// x / 0 = -1, x % 0 = x; the smallest number over -1 wraps.
Value Emitter::integerDivision(Op op, ElementKind kind, Value x, Value y) {
  llvm::Type *type = x->getType();
  Value zero = integer(type, 0), one = integer(type, 1), ones = integer(type, -1);
  Value isZero = b.CreateICmpEQ(y, zero);
  if (!isSigned(kind)) {
    Value divisor = b.CreateSelect(isZero, one, y);
    if (op == Op::Div)
      return b.CreateSelect(isZero, ones, b.CreateUDiv(x, divisor));
    return b.CreateSelect(isZero, x, b.CreateURem(x, divisor));
  }
  Value isMinusOne = b.CreateICmpEQ(y, ones);
  Value divisor = b.CreateSelect(b.CreateOr(isZero, isMinusOne), one, y);
  if (op == Op::Div) {
    Value quotient = b.CreateSelect(isMinusOne, b.CreateNeg(x), b.CreateSDiv(x, divisor));
    return b.CreateSelect(isZero, ones, quotient);
  }
  Value rest = b.CreateSelect(isMinusOne, zero, b.CreateSRem(x, divisor));
  return b.CreateSelect(isZero, x, rest);
}

Value Emitter::shift(Op op, ElementKind kind, Value x, Value y) {
  llvm::Type *type = x->getType();
  int64_t width = bitWidth(kind);
  Value isOut = b.CreateICmpUGE(y, integer(type, width));
  if (op == Op::ShrA)
    return b.CreateAShr(x, b.CreateSelect(isOut, integer(type, width - 1), y));
  Value shifted = op == Op::Shl ? b.CreateShl(x, y) : b.CreateLShr(x, y);
  // The rotations of random bits shift by constants: there are hundreds of them in a kernel that makes a dropout's
  // mask again, and LLVM takes long to see that there is nothing to freeze.
  if (auto *never = llvm::dyn_cast<llvm::Constant>(isOut); never && never->isNullValue())
    return shifted;
  return b.CreateSelect(isOut, integer(type, 0), b.CreateFreeze(shifted));
}

// Of a number that is compared with zero, whether its bits may come as an integer's: LLVM looks through what
// moves them or changes the sign.
static bool mayHaveBitsOfInteger(const Node *node) {
  return isFloat(node->kind) && (node->op != Op::Load || node->kind == ElementKind::BF16);
}

Value Emitter::compare(const Node *node, Value x, Value y) {
  ElementKind kind = node->operands[0]->kind;
  int direction = node->aux & 7;
  for (unsigned i : {0u, 1u}) {
    const Node *operand = node->operands[i];
    bool isNeverLess = operand->op == Op::Abs || operand->op == Op::Sqrt;
    bool isAtMost = isNeverLess && node->aux == (i == 0 ? LE : GE);
    if ((node->aux == EQ || node->aux == NE || isAtMost) && isZero(node->operands[1 - i]) &&
        mayHaveBitsOfInteger(operand))
      return comparedWithZero(b, i == 0 ? x : y, direction != NE);
  }
  if (isFloat(kind) && node->aux & TotalOrder) {
    // Sign and magnitude to two's complement: -NaN < -inf < .. < -0 < 0 < .. < NaN.
    unsigned width = kind == ElementKind::F64 ? 64 : 32;
    llvm::Type *type = likeType(x->getType(), b.getIntNTy(width));
    auto key = [&](Value value) {
      Value bits = b.CreateBitCast(value, type);
      return b.CreateXor(bits, b.CreateLShr(b.CreateAShr(bits, width - 1), 1));
    };
    x = key(x), y = key(y);
    kind = ElementKind::I64;
  }
  using P = llvm::CmpInst::Predicate;
  if (isFloat(kind)) {
    static constexpr P predicates[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OGE,
                                       P::FCMP_OGT, P::FCMP_OLE, P::FCMP_OLT};
    return b.CreateFCmp(predicates[direction], x, y);
  }
  static constexpr P ofSigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SGE,
                                   P::ICMP_SGT, P::ICMP_SLE, P::ICMP_SLT};
  static constexpr P ofUnsigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_UGE,
                                     P::ICMP_UGT, P::ICMP_ULE, P::ICMP_ULT};
  return b.CreateICmp((isSigned(kind) ? ofSigned : ofUnsigned)[direction], x, y);
}

static Value floorDivision(llvm::IRBuilder<> &b, Op op, const Node *node, Value x) {
  llvm::Type *type = x->getType();
  int64_t by = node->bits;
  const Node *operand = node->operands[0];
  if (llvm::isPowerOf2_64(by)) // right for negative numbers too
    return op == Op::FloorDiv ? b.CreateAShr(x, llvm::Log2_64(by))
                              : b.CreateAnd(x, integer(type, by - 1));
  if (operand->low >= 0 && operand->high < INT32_MAX) {
    llvm::Type *narrow = likeType(type, b.getInt32Ty());
    Value small = b.CreateTrunc(x, narrow), divisor = integer(narrow, by);
    return b.CreateZExt(
        op == Op::FloorDiv ? b.CreateUDiv(small, divisor) : b.CreateURem(small, divisor), type);
  }
  Value rest = b.CreateSRem(x, integer(type, by));
  Value isNegative = b.CreateICmpSLT(rest, integer(type, 0));
  rest = b.CreateSelect(isNegative, b.CreateAdd(rest, integer(type, by)), rest);
  if (op == Op::FloorRem)
    return rest;
  return b.CreateSDiv(b.CreateSub(x, rest), integer(type, by));
}

static Value reducePrecision(llvm::IRBuilder<> &b, Value x, int exponentBits, int mantissaBits) {
  bool isSingle = x->getType()->getScalarType()->isFloatTy();
  int width = isSingle ? 32 : 64, fullMantissa = isSingle ? 23 : 52,
      fullExponent = isSingle ? 8 : 11;
  llvm::Type *type = likeType(x->getType(), b.getIntNTy(width));
  Value bits = b.CreateBitCast(x, type);
  if (mantissaBits < fullMantissa) {
    int drop = fullMantissa - mantissaBits;
    Value isOdd = b.CreateAnd(b.CreateLShr(bits, drop), integer(type, 1));
    Value bias = b.CreateAdd(isOdd, integer(type, (int64_t(1) << (drop - 1)) - 1));
    bits = b.CreateAnd(b.CreateAdd(bits, bias), integer(type, -(int64_t(1) << drop)));
  }
  if (exponentBits < fullExponent) {
    int64_t bias = (int64_t(1) << (fullExponent - 1)) - 1,
            newBias = (int64_t(1) << (exponentBits - 1)) - 1;
    int64_t signMask = int64_t(1) << (width - 1);
    if (isSingle)
      signMask = static_cast<int64_t>(0x80000000);
    Value sign = b.CreateAnd(bits, integer(type, signMask));
    Value magnitude = b.CreateXor(bits, sign);
    int64_t tooBig = (bias + newBias + 1) << fullMantissa, tooSmall = (bias - newBias + 1)
                                                                      << fullMantissa;
    int64_t infinity = ((int64_t(1) << fullExponent) - 1) << fullMantissa;
    Value isBig = b.CreateICmpUGE(magnitude, integer(type, tooBig));
    Value isSmall = b.CreateICmpULT(magnitude, integer(type, tooSmall));
    bits = b.CreateSelect(isBig, b.CreateOr(sign, integer(type, infinity)),
                          b.CreateSelect(isSmall, sign, bits));
  }
  Value result = b.CreateBitCast(bits, x->getType());
  return b.CreateSelect(b.CreateFCmpUNO(x, x), x, result);
}

//===--- Operations ---===//

static Value floatArithmetic(llvm::IRBuilder<> &b, Op op, llvm::ArrayRef<Value> v, const Node *node,
                             const VectorFeatures &features) {
  VectorMath math(b, features);
  llvm::Type *type = v[0]->getType();
  bool isSingle = type->getScalarType()->isFloatTy();
  auto intrinsic = [&](llvm::Intrinsic::ID id) { return b.CreateUnaryIntrinsic(id, v[0]); };
  auto number = [&](double x) { return llvm::ConstantFP::get(type, x); };
  switch (op) {
  case Op::Add:
    return b.CreateFAdd(v[0], v[1]);
  case Op::Sub:
    return b.CreateFSub(v[0], v[1]);
  case Op::Mul:
    return b.CreateFMul(v[0], v[1]);
  case Op::Div:
    return b.CreateFDiv(v[0], v[1]);
  case Op::Max:
    return math.maximum(v[0], v[1]);
  case Op::Min:
    return math.minimum(v[0], v[1]);
  case Op::Neg:
    return b.CreateFNeg(v[0]);
  case Op::Abs:
    return intrinsic(llvm::Intrinsic::fabs);
  case Op::Ceil:
    return intrinsic(llvm::Intrinsic::ceil);
  case Op::Floor:
    return intrinsic(llvm::Intrinsic::floor);
  case Op::RoundEven:
    return intrinsic(llvm::Intrinsic::roundeven);
  case Op::RoundAfz:
    return intrinsic(llvm::Intrinsic::round);
  case Op::Sqrt:
    return intrinsic(llvm::Intrinsic::sqrt);
  case Op::Rsqrt: // approximations of processors differ between makers
    return b.CreateFDiv(number(1), intrinsic(llvm::Intrinsic::sqrt));
  case Op::Sign: {
    Value unit = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, number(1), v[0]);
    return b.CreateSelect(b.CreateFCmpONE(v[0], number(0)), unit, v[0]); // 0 and NaN stay
  }
  case Op::IsFinite:
    return b.CreateFCmpONE(intrinsic(llvm::Intrinsic::fabs), llvm::ConstantFP::getInfinity(type));
  case Op::ReducePrecision:
    return reducePrecision(b, v[0], node->aux / 256, node->aux % 256);
  case Op::Rem:
    if (isSingle && v[0]->getType()->isVectorTy())
      return math.remainder(v[0], v[1]);
    return math.callEachLane(isSingle ? "fmodf" : "fmod", v);
  default:
    break;
  }
  return isSingle ? math.apply(op, v) : callDouble(b, op, v);
}

// Whether the result of numbers of a type is again a number of that type, without rounding.
static bool isExact(Op op) {
  switch (op) {
  case Op::Max:
  case Op::Min:
  case Op::Neg:
  case Op::Abs:
  case Op::Sign:
  case Op::Ceil:
  case Op::Floor:
  case Op::RoundAfz:
  case Op::RoundEven:
  case Op::Rem:
  case Op::ReducePrecision:
    return true;
  default:
    return false;
  }
}

// Whether a NaN that comes of bf16 is the processor's own, or one of the operands, made quiet.
static bool passesNaN(Op op) {
  return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Div || op == Op::Exp;
}

Value Emitter::arithmetic(Op op, ElementKind kind, llvm::ArrayRef<Value> v, const Node *node) {
  if (op == Op::FloorDiv || op == Op::FloorRem)
    return floorDivision(b, op, node, v[0]);
  llvm::Type *type = v[0]->getType();
  if (type->getScalarType()->isFloatingPointTy()) {
    bool isRounded = isExact(op) || scalesExactly(op, kind, node);
    Value value = nullptr;
    if (kind == ElementKind::BF16 && !isRounded)
      value = VectorMath(b, features).applyToBf16(op, v);
    if (!value && op == Op::Div && node && takesReciprocal(node))
      value = VectorMath(b, features).quotientByShared(v[0], v[1]);
    if (!value)
      value = floatArithmetic(b, op, v, node, features);
    bool isNew = llvm::isa<llvm::Instruction>(value) && !llvm::is_contained(v, value);
    if (kind == ElementKind::BF16 && features.bf16Pairs && isExact(op) && isNew)
      narrowed[{value, kind}] = narrowPairsOfBf16(b, value);
    if (kind == ElementKind::BF16 && !isRounded && passesNaN(op) && !features.bf16 &&
        !features.bf16Pairs)
      return roundToBf16(b, value, /*isNaNShort=*/true);
    return isNarrowFloat(kind) && !isRounded ? round(kind, value) : value;
  }
  auto binary = [&](llvm::Intrinsic::ID id) { return b.CreateBinaryIntrinsic(id, v[0], v[1]); };
  bool isBool = kind == ElementKind::I1;
  switch (op) {
  case Op::Add:
    return isBool ? b.CreateOr(v[0], v[1]) : b.CreateAdd(v[0], v[1]);
  case Op::Sub:
    return b.CreateSub(v[0], v[1]);
  case Op::Mul:
    return isBool ? b.CreateAnd(v[0], v[1]) : b.CreateMul(v[0], v[1]);
  case Op::Div:
  case Op::Rem:
    return integerDivision(op, kind, v[0], v[1]);
  case Op::Max:
    return binary(isSigned(kind) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
  case Op::Min:
    return binary(isSigned(kind) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
  case Op::And:
    return b.CreateAnd(v[0], v[1]);
  case Op::Or:
    return b.CreateOr(v[0], v[1]);
  case Op::Xor:
    return b.CreateXor(v[0], v[1]);
  case Op::Shl:
  case Op::ShrA:
  case Op::ShrL:
    return shift(op, kind, v[0], v[1]);
  case Op::Not:
    return b.CreateNot(v[0]);
  case Op::Neg:
    return b.CreateNeg(v[0]);
  case Op::Abs:
    return isSigned(kind) ? b.CreateIntrinsic(llvm::Intrinsic::abs, {type}, {v[0], b.getFalse()})
                          : v[0];
  case Op::Sign: {
    Value zero = integer(type, 0);
    Value isPositive = isSigned(kind) ? b.CreateICmpSGT(v[0], zero) : b.CreateICmpNE(v[0], zero);
    Value isNegative = isSigned(kind) ? b.CreateICmpSLT(v[0], zero)
                                      : llvm::Constant::getNullValue(isPositive->getType());
    return b.CreateSub(b.CreateZExt(isPositive, type), b.CreateZExt(isNegative, type));
  }
  case Op::PopCount:
    return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, v[0]);
  case Op::Clz:
    return b.CreateIntrinsic(llvm::Intrinsic::ctlz, {type}, {v[0], b.getFalse()});
  case Op::Pow: { // by squaring; a negative power is 0, but for bases of 1 and -1
    Value result = integer(type, 1), base = v[0], one = integer(type, 1);
    for (unsigned bit = 0, width = std::min(bitWidth(kind), 64u); bit < width; ++bit) {
      Value isSet = b.CreateICmpNE(b.CreateAnd(b.CreateLShr(v[1], bit), one), integer(type, 0));
      result = b.CreateSelect(isSet, b.CreateMul(result, base), result);
      base = b.CreateMul(base, base);
    }
    if (!isSigned(kind))
      return result;
    Value isNegative = b.CreateICmpSLT(v[1], integer(type, 0));
    Value isOdd = b.CreateICmpNE(b.CreateAnd(v[1], one), integer(type, 0));
    Value ofMinusOne = b.CreateSelect(isOdd, integer(type, -1), one);
    Value inverse = b.CreateSelect(
        b.CreateICmpEQ(v[0], one), one,
        b.CreateSelect(b.CreateICmpEQ(v[0], integer(type, -1)), ofMinusOne, integer(type, 0)));
    return b.CreateSelect(isNegative, inverse, result);
  }
  default:
    llvm_unreachable("operation on integers");
  }
}

} // namespace tessera::codegen
