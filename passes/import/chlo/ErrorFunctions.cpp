// erfc and the inverse of erf, by erf.
//
// erfc in f64: W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp.
// 23 (1969). f32: a polynomial of our own, fitted by Lawson's reweighted least squares. Inverse: M.
// Giles, "Approximating the erfinv function", GPU Computing Gems (2011); f64 adds two Newton steps.
#include "passes/import/chlo/ScalarFunctions.h"

using namespace mlir;

namespace tessera::import {

// exp(-y*y) without the loss of y*y's low bits: y is split at 1/16.
static Expr gaussian(Expr y) {
  Expr head = (y * 16.0).floor() / 16.0;
  Expr tail = (y - head) * (y + head);
  return (-(head * head)).exp() * (-tail).exp();
}

// erfc on y > 0.46875.
static Expr codyTail(Expr y) {
  Expr near = polynomial(y, {2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
                             6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
                             1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3}) /
              polynomial(y, {1.0, 1.57449261107098347e1, 1.17693950891312499e2,
                             5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3,
                             4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3});
  Expr z = 1.0 / (y * y);
  Expr far =
      z *
      polynomial(z, {1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
                     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4}) /
      polynomial(z, {1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1,
                     6.05183413124413191e-2, 2.33520497626869185e-3});
  far = (0.56418958354775628695 - far) / y;
  return gaussian(y) * (y <= 4.0).select(near, far);
}

// erfc on 0.3 < y < 10: exp(-y^2) t p(t) with t = 2 / (2 + y). All but the exponential in f64: what
// rounding y^2 lost comes back as a factor.
static Expr tail32(Expr y) {
  Type single = y.element(), wide = y.builder->getF64Type();
  Expr d = y.convert(wide), square = y * y;
  Expr lost = d * d - square.convert(wide);
  Expr t = 2.0 / (d + 2.0);
  Expr p = polynomial(t, {-0.013671504333615303, -0.003215726697817445, 0.18974396586418152,
                          -0.4012337923049927, 0.23404011130332947, -0.014697686769068241,
                          0.20165567100048065, 0.24284489452838898, 0.2824450433254242,
                          0.282081663608551});
  Expr factor = t * p * (1.0 - lost);
  return (-square).exp() * factor.convert(single);
}

// |x|, or a number whose erfc is zero: infinities would make NaN on the way.
static Expr magnitude(Expr x) { return x.abs().apply<stablehlo::MinOp>(x.number(30.0)); }

Expr erfc(Expr x) {
  Expr y = magnitude(x);
  Expr tail = x.isDouble() ? codyTail(y) : tail32(y);
  tail = (x < 0.0).select(2.0 - tail, tail);
  return (y <= 0.46875).select(1.0 - x.apply<chlo::ErfOp>(), tail);
}

Expr erfInv(Expr x) {
  constexpr double halfRootPi = 0.88622692545275801365;
  Expr w = -((x.number(1.0) - x) * (x + 1.0)).log();
  Expr centre =
      polynomial(w - 2.5, {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
                           0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  Expr outer = polynomial(w.sqrt() - 3.0,
                          {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                           0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Expr y = (w < 5.0).select(centre, outer) * x;
  if (x.isDouble()) {
    // Beyond w = 16, in (sqrt(w) - 5.15) / 1.15; 5e-10.
    Expr s = (w.sqrt() - 5.15) / 1.15;
    Expr end =
        polynomial(s, {6.844995765669855e-07, -2.475306141151953e-06, 8.186389667516367e-06,
                       -3.18848089153327e-05, 0.00010962714606151565, -0.00026409096630649443,
                       -0.0002986968661964198, 1.1617821178442027, 5.001447661254887});
    y = (w > 16.0).select(end * x, y);
    for (int i = 0; i < 2; ++i) {
      // Near the ends erf loses what erfc has.
      Expr error = (x.abs() <= 0.5)
                       .select(y.apply<chlo::ErfOp>() - x,
                               (x < 0.0).select(erfc(-y) - (x + 1.0), (1.0 - x) - erfc(y)));
      y = y - error * halfRootPi * (y * y).exp();
    }
    y = (x.abs() < 1e-9).select(x * halfRootPi, y); // the error would be subnormal
  }
  Expr infinite = x * x.number(std::numeric_limits<double>::infinity());
  return (x.abs() == 1.0).select(infinite, y);
}

} // namespace tessera::import
