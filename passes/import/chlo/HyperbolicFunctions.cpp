// Hyperbolic and trigonometric functions and their inverses, by the identities that keep small
// arguments accurate.
#include "passes/import/chlo/ScalarFunctions.h"

#include <limits>

using namespace mlir;

namespace tessera::import {

static constexpr double ln2 = 0.69314718055994530942;

Expr sinh(Expr x) {
  Expr y = x.abs(), e = y.expm1();
  Expr small = (e + e / (e + 1.0)) * 0.5;
  Expr half = (y * 0.5).exp(); // exp(y) itself may overflow
  Expr large = half * 0.5 * half;
  Expr r = (y < 20.0).select(small, large);
  return (x < 0.0).select(-r, (x == 0.0).select(x, r));
}

Expr cosh(Expr x) {
  Expr half = (x.abs() * 0.5).exp();
  return half * 0.5 * half + 0.5 / half / half;
}

Expr tan(Expr x) { return x.apply<stablehlo::SineOp>() / x.apply<stablehlo::CosineOp>(); }

static Expr cosineFromSine(Expr x) { return ((1.0 - x) * (x + 1.0)).sqrt(); }
Expr asin(Expr x) { return x.apply<stablehlo::Atan2Op>(cosineFromSine(x)); }
Expr acos(Expr x) { return cosineFromSine(x).apply<stablehlo::Atan2Op>(x); }
Expr atan(Expr x) { return x.apply<stablehlo::Atan2Op>(x.number(1.0)); }

Expr asinh(Expr x) {
  Expr y = x.abs();
  Expr large = y.log() + ln2;
  Expr z = y * y;
  Expr small = (y + z / ((z + 1.0).sqrt() + 1.0)).log1p();
  Expr r = (y > (x.isDouble() ? 1e8 : 1e4)).select(large, small);
  r = (x < 0.0).select(-r, r);
  return (x == 0.0).select(x, r);
}

Expr acosh(Expr x) {
  Expr large = x.log() + ln2;
  Expr d = x - 1.0;
  Expr small = (d + (d * (x + 1.0)).sqrt()).log1p();
  small = (x < 1.0).select(x.number(std::numeric_limits<double>::quiet_NaN()), small);
  return (x > (x.isDouble() ? 1e8 : 1e4)).select(large, small);
}

Expr atanh(Expr x) {
  Expr y = x.abs();
  Expr r = (y * 2.0 / (1.0 - y)).log1p() * 0.5;
  return (x < 0.0).select(-r, (x == 0.0).select(x, r));
}

// The neighbour is one step of the bit pattern away; patterns order like the numbers of one sign.
Expr nextAfter(Expr x, Expr y) {
  OpBuilder &b = *x.builder;
  Type integer = b.getIntegerType(x.element().getIntOrFloatBitWidth());
  auto bits = x.type().clone(integer);
  auto splat = [&](const APInt &value) {
    return Expr(
        b, x.loc,
        stablehlo::ConstantOp::create(b, x.loc, DenseElementsAttr::get(bits, value)).getResult());
  };
  auto cast = [&](Expr value, Type type) {
    return Expr(b, x.loc,
                stablehlo::BitcastConvertOp::create(b, x.loc, type, value.get()).getResult());
  };
  using stablehlo::ComparisonDirection;
  unsigned width = integer.getIntOrFloatBitWidth();
  Expr one = splat(APInt(width, 1)), minus = splat(APInt::getAllOnes(width)),
       sign = splat(APInt::getSignMask(width));
  Expr pattern = cast(x, bits);
  Expr up = y.compare(ComparisonDirection::GT, x), positive = x > 0.0;
  Expr away = up.compare(ComparisonDirection::EQ, positive);
  Expr moved = cast(pattern + away.select(one, minus), x.type());
  Expr smallest = cast((y < 0.0).select(one.apply<stablehlo::OrOp>(sign), one), x.type());
  Expr next = (x == 0.0).select(smallest, moved);
  next = x.compare(ComparisonDirection::EQ, y).select(y, next);
  Expr anyNan = x.compare(ComparisonDirection::NE, x)
                    .apply<stablehlo::OrOp>(y.compare(ComparisonDirection::NE, y));
  return anyNan.select(x + y, next);
}

} // namespace tessera::import
