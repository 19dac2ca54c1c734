// The polynomials are weighted least-squares fits on Chebyshev points, iterated towards the minimax
// error (Lawson 1961, Contributions to the theory of linear least maximum approximation); each
// comment gives the error of the fit.
#include "passes/codegen/cpu/VectorMath.h"

#include "passes/codegen/cpu/DoubleMath.h"
#include "llvm/IR/Intrinsics.h"

#include <limits>

namespace tessera::codegen {

using Value = llvm::Value *;
static constexpr double inf = std::numeric_limits<double>::infinity();

Value VectorMath::apply(Op op, llvm::ArrayRef<Value> v) {
  switch (op) {
  case Op::Exp:
    return exp(v[0]);
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
    return nullptr;
  }
}

//===--- Exponentials ---===//

VectorMath::Reduced VectorMath::reduceExponent(Value x) {
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits; NaN passes through.
  Value magic = number(x, 12582912.0);
  Value shifted = fma(x, number(x, 1.44269504088896341), magic);
  Value n = b.CreateFSub(shifted, magic);
  Value rest = fma(n, number(x, -0.693145751953125), x); // ln 2 in two parts
  rest = fma(n, number(x, -1.42860682030941723e-6), rest);
  return {rest, b.CreateSub(bits(shifted), bits(magic))};
}

// expm1 of the reduced argument: r + r^2 Q(r); 3e-10.
static constexpr double expm1Coefficients[] = {0.500000005,   0.166666668,   0.0416663288,
                                               0.00833326921, 0.00139431184, 0.000199165209};

Value VectorMath::expm1OfNegative(Value x) {
  auto [r, n] = reduceExponent(x);
  Value part = fma(horner(r, expm1Coefficients), b.CreateFMul(r, r), r);
  Value s = power2(n);
  return fma(s, part, b.CreateFSub(s, number(x, 1)));
}

Value VectorMath::expm1(Value x) {
  Value y = select(b.CreateFCmpOGT(x, number(x, 60)), number(x, 60), x);
  y = select(b.CreateFCmpOLT(y, number(x, -60)), number(x, -60), y);
  Value small = expm1OfNegative(y);
  Value result = select(b.CreateFCmpOGT(x, number(x, 30)), exp(x), small);
  return select(b.CreateFCmpOEQ(x, number(x, 0)), x, result); // keeps -0
}

Value VectorMath::logistic(Value x) {
  Value one = number(x, 1);
  return b.CreateFDiv(one, b.CreateFAdd(one, exp(b.CreateFNeg(x))));
}

Value VectorMath::tanh(Value x) {
  Value a = abs(x);
  a = select(b.CreateFCmpOGT(a, number(x, 10)), number(x, 10), a);
  // tanh(a) = -t / (t + 2), t = expm1(-2a)
  Value t = expm1OfNegative(b.CreateFMul(a, number(x, -2)));
  return copySign(b.CreateFDiv(t, b.CreateFAdd(t, number(x, 2))), x);
}

//===--- Logarithms ---===//

Value VectorMath::log(Value x) {
  Value isSmall = b.CreateFCmpOLT(x, number(x, 1.17549435e-38));
  Value normal = select(isSmall, b.CreateFMul(x, number(x, 8388608)), x);
  // x = m 2^e with m in [sqrt(1/2), sqrt(2))
  Value pattern = bits(normal);
  Value e = b.CreateAShr(b.CreateSub(pattern, integer(x, 0x3f3504f3)), 23);
  Value m = b.CreateBitCast(b.CreateSub(pattern, b.CreateShl(e, 23)), x->getType());
  e = b.CreateSub(e, select(isSmall, integer(x, 23), integer(x, 0)));
  Value f = b.CreateFSub(m, number(x, 1)), exponent = b.CreateSIToFP(e, x->getType());
  // log(1 + f) = f - f^2/2 + f^3 P(f); 8e-10
  Value p = horner(f, {0.333333104, -0.249999866, 0.200022267, -0.166692495, 0.142186554,
                       -0.123843703, 0.118730163, -0.117896956, 0.0691514695});
  Value square = b.CreateFMul(f, f);
  Value tail = b.CreateFMul(b.CreateFMul(f, square), p);
  tail = fma(exponent, number(x, 1.42860682030941723e-6), tail);
  tail = fma(square, number(x, -0.5), tail);
  Value result = fma(exponent, number(x, 0.693145751953125), b.CreateFAdd(f, tail));
  Value isPositive = b.CreateFCmpOGT(x, number(x, 0));
  result = select(isPositive, result,
                  select(b.CreateFCmpOEQ(x, number(x, 0)), number(x, -inf),
                         number(x, std::numeric_limits<double>::quiet_NaN())));
  return select(b.CreateFCmpOEQ(x, number(x, inf)), x, result);
}

Value VectorMath::log1p(Value x) {
  Value one = number(x, 1), u = b.CreateFAdd(one, x);
  // What rounding 1 + x lost, to first order.
  Value lost = b.CreateFDiv(b.CreateFSub(x, b.CreateFSub(u, one)), u);
  Value isPlain = b.CreateAnd(b.CreateFCmpOLT(x, number(x, inf)), b.CreateFCmpOGT(u, number(x, 0)));
  Value result = b.CreateFAdd(log(u), select(isPlain, lost, number(x, 0)));
  return select(b.CreateFCmpOEQ(x, number(x, 0)), x, result);
}

//===--- Powers, in double ---===//

// Rounds here: LLVM makes one conversion of this and a later one to bf16, in a library.
static Value toSingle(llvm::IRBuilder<> &b, Value wide, llvm::Type *type) {
  return b.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {type},
                           {b.CreateFPTrunc(wide, type)});
}

Value VectorMath::pow(Value x, Value y) {
  llvm::Type *wide = likeType(x->getType(), b.getDoubleTy());
  Value zero = number(x, 0), a = abs(x);
  Value logarithm = DoubleMath(b).log2Near(b.CreateFPExt(a, wide));
  logarithm = select(b.CreateFCmpOEQ(a, zero), number(logarithm, -inf), logarithm);
  logarithm = select(b.CreateFCmpOEQ(a, number(x, inf)), number(logarithm, inf), logarithm);
  logarithm = select(b.CreateFCmpUNO(x, x), b.CreateFPExt(x, wide), logarithm);
  Value magnitude = toSingle(
      b, DoubleMath(b).exp2Near(b.CreateFMul(b.CreateFPExt(y, wide), logarithm)), x->getType());
  return powerOfSigned(x, y, magnitude);
}

Value VectorMath::cbrt(Value x) {
  llvm::Type *wide = likeType(x->getType(), b.getDoubleTy());
  Value a = abs(x);
  Value logarithm = DoubleMath(b).log2Near(b.CreateFPExt(a, wide));
  Value root = DoubleMath(b).exp2Near(b.CreateFMul(logarithm, number(logarithm, 1.0 / 3)));
  Value isPlain = b.CreateAnd(b.CreateFCmpOGT(a, number(x, 0)), b.CreateFCmpOLT(a, number(x, inf)));
  return select(isPlain, copySign(toSingle(b, root, x->getType()), x), x);
}

//===--- Angles ---===//

VectorMath::SinCos VectorMath::sinCos(Value x) {
  // Reduced in double, whose 53 bits and a second part of pi/2 are enough up to 2^50.
  llvm::Type *wide = likeType(x->getType(), b.getDoubleTy());
  Value d = b.CreateFPExt(x, wide), magic = number(d, 6755399441055744.0);
  Value shifted = fma(d, number(d, 0.63661977236758134), magic);
  Value n = b.CreateFSub(shifted, magic);
  Value rest = fma(n, number(d, -1.5707963267948966), d);
  rest = fma(n, number(d, -6.123233995736766e-17), rest);
  Value quadrant = bits(shifted);
  Value isHuge = b.CreateFCmpOGT(abs(x), number(x, 1125899906842624.0));
  llvm::SmallVector<Value> found = unlessRare(isHuge, {rest, quadrant}, [&] {
    DoubleMath::Angle angle = DoubleMath(b).hugeAngle(d);
    return llvm::SmallVector<Value>{angle.rest.hi, angle.quadrant};
  });
  rest = found[0];
  quadrant = b.CreateTrunc(found[1], integerType(x));
  // In double, rounded once, by the C library's polynomials (glibc's), and so with its bits.
  Value square = b.CreateFMul(rest, rest);
  Value p = horner(square, {-0x1.555545995a603p-3, 0x1.1107605230bc4p-7, -0x1.994eb3774cf24p-13});
  Value sine = b.CreateFPTrunc(fma(p, b.CreateFMul(rest, square), rest), x->getType());
  // The sum of -0 and the products of zeros is +0.
  Value isZero = b.CreateICmpEQ(b.CreateShl(bits(x), 1), integer(x, 0));
  sine = select(isZero, x, sine);
  Value cosine = b.CreateFPTrunc(horner(square, {1, -0x1.ffffffd0c621cp-2, 0x1.55553e1068f19p-5,
                                                 -0x1.6c087e89a359dp-10, 0x1.99343027bf8c3p-16}),
                                 x->getType());
  Value isOdd = b.CreateICmpNE(b.CreateAnd(quadrant, integer(x, 1)), integer(x, 0));
  auto withSign = [&](Value value, Value quadrant) {
    Value sign = b.CreateShl(b.CreateAnd(quadrant, integer(x, 2)), 30);
    return b.CreateBitCast(b.CreateXor(bits(value), sign), x->getType());
  };
  return {withSign(select(isOdd, cosine, sine), quadrant),
          withSign(select(isOdd, sine, cosine), b.CreateAdd(quadrant, integer(x, 1)))};
}

Value VectorMath::sineOrCosine(Op op, Value x) {
  auto [sine, cosine] = sinCos(x);
  return op == Op::Sin ? sine : op == Op::Cos ? cosine : b.CreateFDiv(sine, cosine);
}

Value VectorMath::atan2(Value y, Value x) {
  Value ax = abs(x), ay = abs(y), zero = number(x, 0);
  Value isSteep = b.CreateFCmpOGT(ay, ax);
  Value larger = select(isSteep, ay, ax), smaller = select(isSteep, ax, ay);
  Value t = b.CreateFDiv(smaller, larger);
  t = select(b.CreateFCmpOEQ(larger, zero), zero, t);
  t = select(b.CreateFCmpOEQ(smaller, number(x, inf)), number(x, 1), t);
  Value square = b.CreateFMul(t, t);
  // atan t = t + t^3 P(t^2), t in [0, 1]; 4e-10
  Value p =
      horner(square, {-0.333333274, 0.199996926, -0.142801307, 0.110602445, -0.0881884831,
                      0.0675957214, -0.044946446, 0.0227603411, -0.00742263779, 0.00113487835});
  Value angle = fma(p, b.CreateFMul(t, square), t);
  angle = select(isSteep, b.CreateFSub(number(x, 1.57079632679489662), angle), angle);
  Value isLeft = b.CreateICmpSLT(bits(x), integer(x, 0));
  angle = select(isLeft, b.CreateFSub(number(x, 3.14159265358979324), angle), angle);
  angle = copySign(angle, y);
  Value isNaN = b.CreateFCmpUNO(x, y);
  return select(isNaN, b.CreateFAdd(x, y), angle);
}

} // namespace tessera::codegen
