// Sines, cosines, tangents and angles of f64.
#include "passes/codegen/cpu/DoubleMath.h"

#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {

using Value = llvm::Value *;
static constexpr double kMagic = 6755399441055744.0; // 1.5 2^52
static constexpr double kHuge = 0x1p29;

//===--- The rest of an angle ---===//

DoubleMath::Angle DoubleMath::hugeAngle(Value x) {
  Value rest = callEachLane(kPartsOfAngles[0], {x}), lost = callEachLane(kPartsOfAngles[1], {x});
  Value quadrant = callEachLane(kPartsOfAngles[2], {x});
  return {{rest, lost}, bits(b.CreateFAdd(quadrant, number(x, kMagic)))};
}

DoubleMath::Angle DoubleMath::angle(Value x) {
  Value magic = number(x, kMagic);
  Value shifted = fma(x, number(x, 0x1.45f306dc9c883p-1), magic);
  Value n = b.CreateFSub(shifted, magic);
  // pi/2 in three parts. The first leaves nothing to round.
  Value first = fma(n, number(x, -0x1.921fb54442d18p+0), x);
  Pair second = product(n, number(x, -0x1.1a62633145c07p-54));
  Pair rest = sum(first, second.hi);
  rest.lo = b.CreateFAdd(rest.lo, fma(n, number(x, 0x1.f1976b7ed8fbcp-110), second.lo));
  Value isHuge = b.CreateFCmpOGT(abs(x), number(x, kHuge));
  llvm::SmallVector<Value> found = unlessRare(isHuge, {rest.hi, rest.lo, bits(shifted)}, [&] {
    Angle angle = hugeAngle(x);
    return llvm::SmallVector<Value>{angle.rest.hi, angle.rest.lo, angle.quadrant};
  });
  return {{found[0], found[1]}, found[2]};
}

namespace {

// What is left of x after whole quadrants, by the digits of 2 / pi that matter (M. Payne and R.
// Hanek, "Radian reduction for trigonometric functions", 1983):
//
//   x = m 2^e, a whole number m below 2^53; digits of 2 / pi above 2^(1-e) give whole turns, and
//   192 of those that follow, times m, the quadrant and 190 digits of the angle within it
class HugeAngle {
public:
  explicit HugeAngle(llvm::IRBuilder<> &b) : b(b) {}

  // The rest as the sum of two numbers, and the quadrant.
  std::array<Value, 3> of(Value x) {
    Value bits = b.CreateBitCast(x, b.getInt64Ty());
    auto [high, middle, low] = turns(bits);
    Value quadrant = b.CreateLShr(b.CreateAdd(high, b.getInt64(uint64_t{1} << 61)), 62);
    // The signed rest: 128 digits of it, the first 62 of which may be the sign.
    high = shifted(high, middle, b.getInt64(2)), middle = shifted(middle, low, b.getInt64(2));
    Value sign = b.CreateAShr(high, 63);
    high = b.CreateXor(high, sign), middle = b.CreateXor(middle, sign);
    Value zeros = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {b.getInt64Ty()}, {high, b.getFalse()});
    zeros = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, zeros, b.getInt64(63));
    high = shifted(high, middle, zeros), middle = b.CreateShl(middle, zeros);
    Value cut = b.getInt64(0x7ff);
    Value hi = real(b.CreateAnd(high, b.CreateNot(cut)));
    Value lo =
        b.CreateFAdd(real(b.CreateAnd(high, cut)), b.CreateFMul(real(middle), number(0x1p-64)));
    Value right = number(0x1.921fb54442d18p+0); // pi/2
    Value rest = b.CreateFMul(hi, right);
    Value lost = fma(hi, right, b.CreateFNeg(rest));
    lost = fma(hi, number(0x1.1a62633145c07p-54), fma(lo, right, lost));
    // 2^-(64 + zeros), and the signs of both.
    Value power = b.CreateShl(b.CreateSub(b.getInt64(1023 - 64), zeros), 52);
    Value turned = b.CreateXor(b.CreateXor(sign, bits), power);
    Value isTurned = b.CreateAnd(turned, b.getInt64(uint64_t{1} << 63));
    Value factor = b.CreateBitCast(b.CreateOr(power, isTurned), b.getDoubleTy());
    Value isNegative = b.CreateICmpSLT(bits, b.getInt64(0));
    quadrant = b.CreateSelect(isNegative, b.CreateNeg(quadrant), quadrant);
    Value infinite = b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                                     llvm::ConstantFP::getInfinity(b.getDoubleTy()));
    Value isNone = b.CreateOr(infinite, b.CreateFCmpUNO(x, x));
    rest = b.CreateSelect(isNone, llvm::ConstantFP::getNaN(b.getDoubleTy()),
                          b.CreateFMul(rest, factor));
    return {rest, b.CreateFMul(lost, factor), b.CreateSIToFP(quadrant, b.getDoubleTy())};
  }

private:
  Value number(double value) { return llvm::ConstantFP::get(b.getDoubleTy(), value); }
  Value fma(Value x, Value y, Value z) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {b.getDoubleTy()}, {x, y, z});
  }
  Value real(Value whole) { return b.CreateUIToFP(whole, b.getDoubleTy()); }
  // The higher word of both, moved up by fewer digits than it has.
  Value shifted(Value high, Value low, Value by) {
    return b.CreateIntrinsic(llvm::Intrinsic::fshl, {b.getInt64Ty()}, {high, low, by});
  }
  // The higher word of a product.
  Value highProduct(Value x, Value y) {
    auto wide = [&](Value value) { return b.CreateZExt(value, b.getInt128Ty()); };
    return b.CreateTrunc(b.CreateLShr(b.CreateMul(wide(x), wide(y)), 64), b.getInt64Ty());
  }

  // |x| 2 / pi modulo 4, in units of 2^-190.
  std::array<Value, 3> turns(Value bits) {
    Value m = b.CreateAnd(bits, b.getInt64((uint64_t{1} << 52) - 1));
    m = b.CreateOr(m, b.getInt64(uint64_t{1} << 52));
    // Digit e - 1 of 2 / pi is the first; the table begins with 64 zeros.
    Value field = b.CreateAnd(b.CreateLShr(bits, 52), b.getInt64(0x7ff));
    Value place = b.CreateSub(field, b.getInt64(1075 - 62));
    place = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, place, b.getInt64(0));
    place = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, place, b.getInt64(971 + 62));
    Value word = b.CreateLShr(place, 6), within = b.CreateAnd(place, b.getInt64(63));
    std::array<Value, 4> words;
    for (int64_t i = 0; i < 4; ++i)
      words[i] =
          b.CreateLoad(b.getInt64Ty(), b.CreateInBoundsGEP(b.getInt64Ty(), digits(),
                                                           b.CreateAdd(word, b.getInt64(i))));
    std::array<Value, 3> window;
    for (int64_t i = 0; i < 3; ++i)
      window[i] = shifted(words[i], words[i + 1], within);
    Value middle = b.CreateMul(m, window[1]);
    Value sum = b.CreateAdd(middle, highProduct(m, window[2]));
    Value carry = b.CreateZExt(b.CreateICmpULT(sum, middle), b.getInt64Ty());
    Value high = b.CreateAdd(b.CreateMul(m, window[0]), highProduct(m, window[1]));
    return {b.CreateAdd(high, carry), sum, b.CreateMul(m, window[2])};
  }

  Value digits() {
    static constexpr uint64_t kDigits[] = {0,
                                           0xa2f9836e4e441529,
                                           0xfc2757d1f534ddc0,
                                           0xdb6295993c439041,
                                           0xfe5163abdebbc561,
                                           0xb7246e3a424dd2e0,
                                           0x06492eea09d1921c,
                                           0xfe1deb1cb129a73e,
                                           0xe88235f52ebb4484,
                                           0xe99c7026b45f7e41,
                                           0x3991d639835339f4,
                                           0x9c845f8bbdf9283b,
                                           0x1ff897ffde05980f,
                                           0xef2f118b5a0a6d1f,
                                           0x6d367ecf27cb09b7,
                                           0x4f463f669e5fea2d,
                                           0x7527bac7ebe5f17b,
                                           0x3d0739f78a5292ea,
                                           0x6bfb5fb11f8d5d08,
                                           0x56033046fc7b6bab};
    llvm::Module &module = *b.GetInsertBlock()->getModule();
    if (auto *known = module.getGlobalVariable("two_over_pi", /*AllowInternal=*/true))
      return known;
    auto *data = llvm::ConstantDataArray::get(b.getContext(), kDigits);
    return new llvm::GlobalVariable(module, data->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, data, "two_over_pi");
  }

  llvm::IRBuilder<> &b;
};

} // namespace

Value DoubleMath::partOfAngle(unsigned part, Value x) { return HugeAngle(b).of(x)[part]; }

//===--- Sines and cosines ---===//

Value DoubleMath::sineOrCosine(Op op, Value x) {
  Angle reduced = angle(x);
  Pair r = reduced.rest, square = product(r, r);
  // r - r^3/6 + r^5 P(r^2) and 1 - r^2/2 + r^4 Q(r^2), r^2 <= 0.619; 2^-63, 2^-58.6
  Pair sine = series(r, {{-0x1.5555555555555p-3, -0x1.5555555555555p-57}},
                     {0x1.1111111111111p-7, -0x1.a01a01a019ed0p-13, 0x1.71de3a550b5f2p-19,
                      -0x1.ae645530aa98ep-26, 0x1.6122579e44ef7p-33, -0x1.ab91625602515p-41});
  Value half = number(x, -0.5);
  Pair cosine = fastSum(number(x, 1), b.CreateFMul(square.hi, half));
  Value q = horner(square.hi, {0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019cfdp-16,
                               -0x1.27e4fb77112b9p-22, 0x1.1eed8de8b3c0fp-29,
                               -0x1.9394b57a180c1p-37, 0x1.ab75aa1179501p-45});
  Value low = fma(b.CreateFMul(square.hi, square.hi), q, fma(square.lo, half, cosine.lo));
  cosine = fastSum(cosine.hi, low);
  Value isZero = b.CreateFCmpOEQ(x, number(x, 0)); // keeps -0
  Value quadrant = reduced.quadrant;
  Value isOdd = b.CreateICmpNE(b.CreateAnd(quadrant, integer(x, 1)), integer(x, 0));
  auto withSign = [&](Value value, Value quadrant) {
    Value sign = b.CreateShl(b.CreateAnd(quadrant, integer(x, 2)), 62);
    return b.CreateBitCast(b.CreateXor(bits(value), sign), x->getType());
  };
  if (op == Op::Cos)
    return withSign(total(selectPair(isOdd, sine, cosine)), b.CreateAdd(quadrant, integer(x, 1)));
  if (op == Op::Sin)
    return select(isZero, x, withSign(total(selectPair(isOdd, cosine, sine)), quadrant));
  Value tangent = total(quotient(selectPair(isOdd, cosine, sine), selectPair(isOdd, sine, cosine)));
  Value sign = b.CreateShl(quadrant, 63);
  tangent = b.CreateBitCast(b.CreateXor(bits(tangent), sign), x->getType());
  return select(isZero, x, tangent);
}

//===--- Angles ---===//

Value DoubleMath::atan2(Value y, Value x) {
  Value zero = number(x, 0), one = number(x, 1);
  Value ax = abs(x), ay = abs(y), isSteep = b.CreateFCmpOGT(ay, ax);
  Value larger = select(isSteep, ay, ax), smaller = select(isSteep, ax, ay);
  Value infinity = llvm::ConstantFP::getInfinity(x->getType());
  Value isInfinite = b.CreateFCmpOEQ(larger, infinity);
  smaller = select(isInfinite, select(b.CreateFCmpOEQ(smaller, infinity), one, zero), smaller);
  larger = select(b.CreateOr(isInfinite, b.CreateFCmpOEQ(larger, zero)), one, larger);
  // Away from what overflows and what is subnormal.
  Value factor =
      select(b.CreateFCmpOGT(larger, number(x, 0x1p900)), number(x, 0x1p-200),
             select(b.CreateFCmpOLT(larger, number(x, 0x1p-800)), number(x, 0x1p200), one));
  smaller = b.CreateFMul(smaller, factor), larger = b.CreateFMul(larger, factor);
  // Beyond tan(pi/8): pi/4 + atan((a - b) / (a + b))
  Value isWide = b.CreateFCmpOGT(smaller, b.CreateFMul(larger, number(x, 0x1.a827999fcef32p-2)));
  Pair difference = fastSum(larger, b.CreateFNeg(smaller)), whole = fastSum(larger, smaller);
  Pair t = quotient(selectPair(isWide, {b.CreateFNeg(difference.hi), b.CreateFNeg(difference.lo)},
                               {smaller, zero}),
                    selectPair(isWide, whole, {larger, zero}));
  // t - t^3/3 + t^5 P(t^2), t^2 <= 0.172; 2^-56
  Pair angle = series(t, {{-0x1.5555555555555p-2, -0x1.5555555555555p-56}},
                      {0x1.999999999999ap-3, -0x1.249249249244fp-3, 0x1.c71c71c7135bfp-4,
                       -0x1.745d1741f2472p-4, 0x1.3b13b060422d3p-4, -0x1.1110f47711c92p-4,
                       0x1.e1dd1eae17a5ep-5, -0x1.aee521f018089p-5, 0x1.839719549ec38p-5,
                       -0x1.5419069a4b3c5p-5, 0x1.03b5a583247b7p-5, -0x1.ea9ce3e61e92ep-7});
  // turned * angle + quarters * pi/4
  Value quarters = select(isWide, one, zero), turned = one;
  auto mirror = [&](Value predicate, double around) {
    quarters = select(predicate, b.CreateFSub(number(x, around), quarters), quarters);
    turned = select(predicate, b.CreateFNeg(turned), turned);
  };
  mirror(isSteep, 2);
  mirror(b.CreateICmpSLT(bits(x), integer(x, 0)), 4);
  Pair base = product(Pair{quarters, zero}, {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55});
  Pair result = fastSum(base.hi, b.CreateFMul(turned, angle.hi));
  Value low = b.CreateFAdd(result.lo, fma(turned, angle.lo, base.lo));
  Value isNaN = b.CreateFCmpUNO(x, y);
  return select(isNaN, b.CreateFAdd(x, y), copySign(b.CreateFAdd(result.hi, low), y));
}

} // namespace tessera::codegen
