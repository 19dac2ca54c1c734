// Exponentials, logarithms and powers of f64. Sums and products of pairs are those of T. J. Dekker, "A
// floating-point technique for extending the available precision", 1971. The polynomials meet the
// functions at Chebyshev points; each comment gives the error.
#include "passes/codegen/cpu/DoubleMath.h"

#include "llvm/IR/Intrinsics.h"

#include <limits>

namespace tessera::codegen {

using Value = llvm::Value *;
static constexpr double inf = std::numeric_limits<double>::infinity();
static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Adding it rounds to a whole number and leaves that in the low bits; NaN passes through.
static constexpr double kMagic = 6755399441055744.0; // 1.5 2^52

Value DoubleMath::apply(Op op, llvm::ArrayRef<Value> v) {
  switch (op) {
  case Op::Exp:
    return exp({v[0], number(v[0], 0)}).hi;
  case Op::Expm1:
    return expm1(v[0]);
  case Op::Log:
    return log(v[0]);
  case Op::Log1p:
    return log1p(v[0]);
  case Op::Logistic:
    return logistic(v[0]);
  case Op::Tanh:
    return tanh(v[0]);
  case Op::Sin:
  case Op::Cos:
  case Op::Tan:
    return sineOrCosine(op, v[0]);
  case Op::Erf:
    return erf(v[0]);
  case Op::Erfc:
    return erfc(v[0]);
  case Op::Cbrt:
    return cbrt(v[0]);
  case Op::Pow:
    return pow(v[0], v[1]);
  case Op::Atan2:
    return atan2(v[0], v[1]);
  default:
    llvm_unreachable("no function of f64");
  }
}

//===--- Pairs ---===//

DoubleMath::Pair DoubleMath::fastSum(Value x, Value y) {
  Value hi = b.CreateFAdd(x, y);
  return {hi, b.CreateFSub(y, b.CreateFSub(hi, x))};
}

DoubleMath::Pair DoubleMath::sum(Value x, Value y) {
  Value hi = b.CreateFAdd(x, y), ofY = b.CreateFSub(hi, x);
  Value ofX = b.CreateFSub(hi, ofY);
  return {hi, b.CreateFAdd(b.CreateFSub(x, ofX), b.CreateFSub(y, ofY))};
}

DoubleMath::Pair DoubleMath::product(Value x, Value y) {
  Value hi = b.CreateFMul(x, y);
  return {hi, fma(x, y, b.CreateFNeg(hi))};
}

DoubleMath::Pair DoubleMath::product(Pair x, Pair y) {
  Pair result = product(x.hi, y.hi);
  result.lo = b.CreateFAdd(result.lo, fma(x.hi, y.lo, b.CreateFMul(x.lo, y.hi)));
  return result;
}

DoubleMath::Pair DoubleMath::product(Pair x, std::array<double, 2> y) {
  return product(x, Pair{number(x.hi, y[0]), number(x.hi, y[1])});
}

DoubleMath::Pair DoubleMath::quotient(Pair x, Pair y) {
  Value inverse = b.CreateFDiv(number(y.hi, 1), y.hi), hi = b.CreateFMul(x.hi, inverse);
  Value turned = b.CreateFNeg(hi);
  Value rest = b.CreateFAdd(fma(turned, y.hi, x.hi), fma(turned, y.lo, x.lo));
  return {hi, b.CreateFMul(rest, inverse)};
}

// x + leading[0] x^3 + leading[1] x^5 + .., whose first terms are pairs.
DoubleMath::Pair DoubleMath::series(Pair x, llvm::ArrayRef<std::array<double, 2>> leading,
                                    llvm::ArrayRef<double> tail) {
  Pair square = product(x, x), power = x, result = x;
  for (std::array<double, 2> coefficient : leading) {
    power = product(power, square);
    Pair term = product(power, coefficient), added = fastSum(result.hi, term.hi);
    result = {added.hi, b.CreateFAdd(added.lo, b.CreateFAdd(result.lo, term.lo))};
  }
  Value rest = b.CreateFMul(b.CreateFMul(power.hi, square.hi), horner(square.hi, tail));
  return fastSum(result.hi, b.CreateFAdd(result.lo, rest));
}

Value DoubleMath::between(Value x, double low, double high) {
  Value y = select(b.CreateFCmpOLT(x, number(x, low)), number(x, low), x);
  return select(b.CreateFCmpOGT(y, number(x, high)), number(x, high), y);
}

//===--- Exponentials ---===//

DoubleMath::Exponential DoubleMath::reduceExponent(Pair x) {
  Value like = x.hi, magic = number(like, kMagic);
  Value shifted = fma(x.hi, number(like, 0x1.71547652b82fep+0), magic);
  Value n = b.CreateFSub(shifted, magic);
  // ln 2 in two parts, of which the first has 42 digits.
  Value high = fma(n, number(like, -0x1.62e42fefa3800p-1), x.hi),
        low = number(like, -0x1.ef35793c76730p-45);
  Value near = fma(n, low, high);
  auto [rest, lost] = fastSum(near, b.CreateFAdd(fma(n, low, b.CreateFSub(high, near)), x.lo));
  // exp(r) = 1 + r + r^2 Q(r), |r| <= 0.3475; 2^-58.7
  Value q = horner(rest, {0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5,
                          0x1.1111111110085p-7, 0x1.6c16c16c162a3p-10, 0x1.a01a01ac16f76p-13,
                          0x1.a01a01a6f35fbp-16, 0x1.71de019d031e7p-19, 0x1.27e4db0f8a3efp-22,
                          0x1.af4f1ddf981a8p-26, 0x1.1f73b376c0f55p-29});
  Value tail = fma(b.CreateFMul(rest, rest), q, fma(lost, rest, lost));
  return {shifted, n, rest, tail};
}

Value DoubleMath::scale(Value x, Value n) {
  // In two steps: no number is 2^1024, and what is subnormal is rounded in the second.
  Value magic = number(n, kMagic), shifted = fma(n, number(n, 0.5), magic);
  Value half = b.CreateFSub(shifted, magic), other = b.CreateFAdd(b.CreateFSub(n, half), magic);
  auto power = [&](Value shifted) { return power2(b.CreateSub(bits(shifted), bits(magic))); };
  return b.CreateFMul(b.CreateFMul(x, power(shifted)), power(other));
}

DoubleMath::Pair DoubleMath::exp(Pair x) {
  // Beyond these the result is 0 or infinite anyhow.
  Value hi = between(x.hi, -800, 800);
  Value isPlain = b.CreateFCmpOLT(abs(x.hi), number(hi, 800));
  auto [shifted, n, rest, tail] = reduceExponent({hi, select(isPlain, x.lo, number(hi, 0))});
  Pair power = fastSum(number(hi, 1), rest);
  power = fastSum(power.hi, b.CreateFAdd(power.lo, tail));
  return {scale(power.hi, n), scale(power.lo, n)};
}

DoubleMath::Pair DoubleMath::expm1Pair(Value x) {
  auto [shifted, n, rest, tail] = reduceExponent({x, number(x, 0)});
  Value power = power2(b.CreateSub(bits(shifted), bits(number(x, kMagic))));
  // (2^n - 1) + 2^n (exp(r) - 1)
  Pair whole = sum(power, number(x, -1)), result = fastSum(whole.hi, b.CreateFMul(power, rest));
  return fastSum(result.hi, b.CreateFAdd(result.lo, fma(power, tail, whole.lo)));
}

Value DoubleMath::expm1(Value x) {
  Value small = total(expm1Pair(between(x, -60, 60)));
  Value result = select(b.CreateFCmpOGT(x, number(x, 60)), exp({x, number(x, 0)}).hi, small);
  return select(b.CreateFCmpOEQ(x, number(x, 0)), x, result); // keeps -0
}

Value DoubleMath::logistic(Value x) {
  // By exp(-|x|), which is never infinite.
  Pair small = exp({b.CreateFNeg(abs(x)), number(x, 0)});
  Value one = number(x, 1);
  Pair whole = fastSum(one, small.hi);
  whole.lo = b.CreateFAdd(whole.lo, small.lo);
  Value isNegative = b.CreateFCmpOLT(x, number(x, 0));
  return total(quotient(selectPair(isNegative, small, {one, number(x, 0)}), whole));
}

Value DoubleMath::tanh(Value x) {
  // tanh(a) = -t / (t + 2), t = expm1(-2a)
  Value a = between(abs(x), 0, 22);
  Pair t = expm1Pair(b.CreateFMul(a, number(x, -2)));
  Pair divisor = fastSum(number(x, 2), t.hi);
  divisor.lo = b.CreateFAdd(divisor.lo, t.lo);
  Value result = total(quotient({b.CreateFNeg(t.hi), b.CreateFNeg(t.lo)}, divisor));
  return copySign(result, x);
}

//===--- Logarithms ---===//

DoubleMath::Pair DoubleMath::log(Value x, Value rest) {
  Value isSmall = b.CreateFCmpOLT(x, number(x, 0x1p-1022));
  Value pattern = bits(select(isSmall, b.CreateFMul(x, number(x, 0x1p54)), x));
  // x = m 2^e with m in [sqrt(1/2), sqrt(2))
  constexpr int64_t root = 0x3fe6a09e667f3bcd, bias = 1024;
  Value e = b.CreateLShr(b.CreateAdd(pattern, integer(x, (bias << 52) - root)), 52);
  e = b.CreateSub(e, integer(x, bias));
  Value m = b.CreateBitCast(b.CreateSub(pattern, b.CreateShl(e, 52)), x->getType());
  Value magic = number(x, kMagic);
  Value exponent = b.CreateFSub(b.CreateBitCast(b.CreateAdd(e, bits(magic)), x->getType()), magic);
  exponent = b.CreateFSub(exponent, select(isSmall, number(x, 54), number(x, 0)));
  // log m = 2 atanh(f / (2 + f)); 2^-56 of the seventh power
  Pair f = {b.CreateFSub(m, number(x, 1)), number(x, 0)};
  if (rest) // nothing beside large numbers, of which 2^-e may be none
    f.lo = select(b.CreateFCmpOLT(x, number(x, 0x1p100)),
                  b.CreateFMul(rest, power2(b.CreateNeg(e))), f.lo);
  Pair divisor = fastSum(number(x, 2), f.hi);
  divisor.lo = b.CreateFAdd(divisor.lo, f.lo);
  Pair half = series(quotient(f, divisor),
                     {{0x1.5555555555555p-2, 0x1.5555555555555p-56},
                      {0x1.999999999999ap-3, -0x1.999999999999ap-57}},
                     {0x1.2492492492492p-3, 0x1.c71c71c71c71ap-4, 0x1.745d1745d1fa2p-4,
                      0x1.3b13b13a5ec28p-4, 0x1.1111118b89b5ep-4, 0x1.e1e184e33413dp-5,
                      0x1.af3d1bda1017fp-5, 0x1.836d128260f0fp-5, 0x1.9324b426ebfc0p-5});
  Pair result = fastSum(b.CreateFMul(exponent, number(x, 0x1.62e42fefa3800p-1)),
                        b.CreateFAdd(half.hi, half.hi));
  Value low = fma(exponent, number(x, 0x1.ef35793c76730p-45), b.CreateFAdd(half.lo, half.lo));
  return fastSum(result.hi, b.CreateFAdd(result.lo, low));
}

// `logarithm` of finite x > 0, with the corner cases of others.
Value DoubleMath::ofPositive(Value x, Value logarithm) {
  Value isPositive = b.CreateFCmpOGT(x, number(x, 0));
  Value other = select(b.CreateFCmpOEQ(x, number(x, 0)), number(x, -inf), number(x, nan));
  Value result = select(isPositive, logarithm, other);
  return select(b.CreateFCmpOEQ(x, number(x, inf)), x, result);
}

Value DoubleMath::log(Value x) { return ofPositive(x, total(log(x, nullptr))); }

Value DoubleMath::log1p(Value x) {
  Pair whole = sum(number(x, 1), x);
  Value result = ofPositive(whole.hi, total(log(whole.hi, whole.lo)));
  return select(b.CreateFCmpOLT(abs(x), number(x, 0x1p-54)), x, result);
}

//===--- Powers ---===//

Value DoubleMath::pow(Value x, Value y) {
  Value a = abs(x), zero = number(x, 0);
  Pair logarithm = log(a, nullptr);
  Value isPlain = b.CreateAnd(b.CreateFCmpOGT(a, zero), b.CreateFCmpOLT(a, number(x, inf)));
  Value other = select(b.CreateFCmpOEQ(a, zero), number(x, -inf), a); // infinite, or NaN
  logarithm = selectPair(isPlain, logarithm, {other, zero});
  Pair exponent = product(logarithm, Pair{y, zero});
  return powerOfSigned(x, y, exp(exponent).hi);
}

Value DoubleMath::cbrt(Value x) {
  Value a = abs(x);
  Value isSmall = b.CreateFCmpOLT(a, number(x, 0x1p-900));
  Value isLarge = b.CreateFCmpOGT(a, number(x, 0x1p900));
  auto scaled = [&](Value value, double up, double down) {
    Value factor = select(isSmall, number(x, up), select(isLarge, number(x, down), number(x, 1)));
    return b.CreateFMul(value, factor);
  };
  Value inner = scaled(a, 0x1p300, 0x1p-300);
  Value near = exp2Near(b.CreateFMul(log2Near(inner), number(x, 1.0 / 3)));
  // Newton's step.
  Pair square = product(near, near), cube = product(square, Pair{near, number(x, 0)});
  Value rest = b.CreateFAdd(b.CreateFSub(cube.hi, inner), cube.lo);
  Value step = b.CreateFDiv(rest, b.CreateFMul(square.hi, number(x, 3)));
  Value root = scaled(b.CreateFSub(near, step), 0x1p-100, 0x1p100);
  Value isPlain = b.CreateAnd(b.CreateFCmpOGT(a, number(x, 0)), b.CreateFCmpOLT(a, number(x, inf)));
  return select(isPlain, copySign(root, x), x);
}

Value DoubleMath::log2Near(Value x) {
  Value pattern = bits(x);
  Value e = b.CreateAShr(b.CreateSub(pattern, integer(x, 0x3fe6a09e667f3bcd)), 52);
  Value m = b.CreateBitCast(b.CreateSub(pattern, b.CreateShl(e, 52)), x->getType());
  Value s = b.CreateFDiv(b.CreateFSub(m, number(x, 1)), b.CreateFAdd(m, number(x, 1)));
  Value square = b.CreateFMul(s, s);
  // 2 atanh(s) = 2s + s^3 R(s^2); 5e-16
  Value r = horner(square, {0.66666666666581897, 0.40000000055133494, 0.28571416634877989,
                            0.22223408754803317, 0.18122391858904865, 0.16835408611209815});
  Value natural = fma(b.CreateFMul(s, square), r, b.CreateFAdd(s, s));
  return fma(natural, number(x, 1.4426950408889634), b.CreateSIToFP(e, x->getType()));
}

Value DoubleMath::exp2Near(Value x) {
  Value y = between(x, -1000, 1000), magic = number(x, kMagic);
  Value shifted = b.CreateFAdd(y, magic);
  Value r = b.CreateFSub(y, b.CreateFSub(shifted, magic));
  // 2^r, |r| <= 1/2; 2e-14
  Value p =
      horner(r, {1.0000000000000135, 0.69314718055995406, 0.24022650695639244, 0.055504108664228058,
                 0.0096181291941397889, 0.0013333558262248308, 0.00015403433616292554,
                 1.5252639737338695e-05, 1.3259674218856176e-06, 1.0211874300109397e-07});
  return b.CreateFMul(p, power2(b.CreateSub(bits(shifted), bits(magic))));
}

} // namespace tessera::codegen
