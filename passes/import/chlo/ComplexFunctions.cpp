// Inverse trigonometric and hyperbolic functions of complex numbers, by real and imaginary parts:
// W. Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit"
// (1987). complex<f32> is computed in f64 and rounded once.
#include "passes/import/chlo/ScalarFunctions.h"

#include <limits>

using namespace mlir;

namespace tessera::import {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Parts {
  Expr re, im;
};

Expr atan2(Expr y, Expr x) { return y.apply<stablehlo::Atan2Op>(x); }
Expr max(Expr x, Expr y) { return x.apply<stablehlo::MaxOp>(y); }
Expr min(Expr x, Expr y) { return x.apply<stablehlo::MinOp>(y); }

// Whether the sign bit is set, of -0 too.
Expr isNegative(Expr x) {
  OpBuilder &b = *x.builder;
  auto bits = x.type().clone(b.getI64Type());
  Expr pattern(b, x.loc, stablehlo::BitcastConvertOp::create(b, x.loc, bits, x.get()).getResult());
  Expr zero(b, x.loc,
            stablehlo::ConstantOp::create(b, x.loc, DenseElementsAttr::get(bits, APInt(64, 0)))
                .getResult());
  return pattern.compare(stablehlo::ComparisonDirection::LT, zero);
}

Expr withSign(Expr magnitude, Expr sign) {
  Expr x = magnitude.abs();
  return isNegative(sign).select(-x, x);
}

// sqrt(x^2 + y^2), scaled by the larger.
Expr length(Expr x, Expr y) {
  Expr p = x.abs(), q = y.abs(), large = max(p, q);
  Expr ratio = (large == 0.0).select(large, min(p, q) / large);
  Expr plain = large * (ratio * ratio + 1.0).sqrt();
  return (large == infinity).select(large, plain);
}

Parts sqrt(Parts z) {
  Expr large = max(z.re.abs(), z.im.abs()) > 1.0;
  Expr scale = large.select(z.re.number(0.25), z.re.number(4.0));
  Expr back = large.select(z.re.number(2.0), z.re.number(0.5));
  Expr x = z.re * scale, y = z.im * scale;
  Expr t = ((x.abs() + length(x, y)) * 0.5).sqrt();
  Expr u = (t == 0.0).select(t, y.abs() / (t + t));
  Expr isLeft = isNegative(x), isSteep = y.abs() == infinity;
  u = isSteep.select(y.abs(), u);
  t = isSteep.select(y.abs(), t);
  return {isLeft.select(u, t) * back, withSign(isLeft.select(t, u), z.im) * back};
}

// The lower side of a branch cut counts as the upper one, as in JAX.
Parts aboveCut(Parts z) { return {z.re, (z.im == 0.0).select(z.im.number(0.0), z.im)}; }

// The larger part's magnitude; infinite beside NaN, too, as C's Annex G has it.
Expr largest(Parts z) {
  Expr p = z.re.abs(), q = z.im.abs();
  Expr isInfinite = (p == infinity).apply<stablehlo::OrOp>(q == infinity);
  return isInfinite.select(p.number(infinity), max(p, q));
}

// Far out asin and its like are logarithms.
Expr isFar(Parts z) { return largest(z) > 1e100; }
Expr logOfTwice(Parts z) {
  Expr p = z.re.abs(), q = z.im.abs(), large = largest(z);
  Expr ratio = (large == infinity).select(large.number(0.0), min(p, q) / large);
  return large.log() + (ratio * ratio).log1p() * 0.5 + 0.69314718055994530942;
}

Parts asinParts(Parts w) {
  Parts z = aboveCut(w);
  Parts a = sqrt({1.0 - z.re, -z.im}), b = sqrt({z.re + 1.0, z.im});
  Expr far = isFar(z);
  return {atan2(z.re, far.select(z.im.abs(), a.re * b.re - a.im * b.im)),
          far.select(withSign(logOfTwice(z), z.im), asinh(a.re * b.im - a.im * b.re))};
}

// w with asin z = atan2(Re z, Re w) +- i Im w and acos z = atan2(Re w, Re z) +- i Im w.
Parts asinAcosKernel(Parts z) {
  Parts a = sqrt({1.0 - z.re, -z.im}), b = sqrt({z.re + 1.0, z.im});
  Expr far = isFar(z);
  return {far.select(z.im.abs(), a.re * b.re - a.im * b.im),
          far.select(logOfTwice(z), asinh(a.re * b.im - a.im * b.re).abs())};
}

Parts acosParts(Parts w) {
  Parts z = aboveCut(w);
  Parts a = sqrt({1.0 - z.re, -z.im}), b = sqrt({z.re + 1.0, z.im});
  Expr far = isFar(z);
  return {far.select(atan2(z.im.abs(), z.re), atan2(a.re, b.re) * 2.0),
          far.select(withSign(logOfTwice(z), -z.im), asinh(b.re * a.im - b.im * a.re))};
}

Parts acoshParts(Parts w) {
  Parts z = aboveCut(w);
  Parts c = sqrt({z.re - 1.0, z.im}), b = sqrt({z.re + 1.0, z.im});
  Expr far = isFar(z);
  return {far.select(logOfTwice(z), asinh(c.re * b.re + c.im * b.im)),
          far.select(atan2(z.im, z.re), atan2(c.im, b.re) * 2.0)};
}

Parts atanhParts(Parts z) {
  Expr x = z.re.abs(), y = z.im, rest = 1.0 - x;
  Expr square = rest * rest + y * y;
  Expr re = (x == 0.0).select(x, (x * 4.0 / square).log1p() * 0.25);
  Expr im = atan2(y * 2.0, rest * (x + 1.0) - y * y) * 0.5;
  // Far out it is pi/2 i, but for 1/z.
  Expr far = isFar(z);
  Expr large = largest(z), p = x / large, q = y / large;
  Expr inverse = p / (p * p + q * q) / large;
  inverse = (large == infinity).select(x.number(0.0), inverse);
  Expr quarter = withSign(x.number(1.57079632679489661923), y);
  quarter = y.compare(stablehlo::ComparisonDirection::EQ, y).select(quarter, y); // NaN
  return {withSign(far.select(inverse, re), z.re), far.select(quarter, im)};
}

// f(iz) / i
Parts turned(Parts (*function)(Parts), Parts z) {
  Parts result = function({-z.im, z.re});
  return {result.im, -result.re};
}

} // namespace

Value complexFunction(OpBuilder &b, Location loc, Value operand, ComplexFunction function) {
  auto type = cast<RankedTensorType>(operand.getType());
  Type element = cast<ComplexType>(type.getElementType()).getElementType();
  auto part = [&](Value value) { return Expr(b, loc, value).convert(b.getF64Type()); };
  Parts z{part(stablehlo::RealOp::create(b, loc, operand)),
          part(stablehlo::ImagOp::create(b, loc, operand))};
  auto complex = [&](Parts parts) -> Value {
    return stablehlo::ComplexOp::create(b, loc, parts.re.convert(element).get(),
                                        parts.im.convert(element).get());
  };
  // By a complex function of the dialect.
  auto via = [&](auto op) -> Parts {
    Value iz = stablehlo::ComplexOp::create(b, loc, (-z.im).get(), z.re.get());
    Value result = decltype(op)::create(b, loc, iz).getResult();
    return {Expr(b, loc, stablehlo::RealOp::create(b, loc, result).getResult()),
            Expr(b, loc, stablehlo::ImagOp::create(b, loc, result).getResult())};
  };
  switch (function) {
  case ComplexFunction::Asin:
    return complex(asinParts(z));
  case ComplexFunction::AsinAcosKernel:
    return complex(asinAcosKernel(z));
  case ComplexFunction::Acos:
    return complex(acosParts(z));
  case ComplexFunction::Atan:
    return complex(turned(atanhParts, z));
  case ComplexFunction::Asinh:
    return complex(turned(asinParts, z));
  case ComplexFunction::Acosh:
    return complex(acoshParts(z));
  case ComplexFunction::Atanh:
    return complex(atanhParts(z));
  case ComplexFunction::Sinh: {
    Parts sine = via(stablehlo::SineOp());
    return complex({sine.im, -sine.re});
  }
  case ComplexFunction::Cosh:
    return complex(via(stablehlo::CosineOp()));
  case ComplexFunction::Tan:
    return stablehlo::TanOp::create(b, loc, operand);
  }
  llvm_unreachable("complex function");
}

} // namespace tessera::import
