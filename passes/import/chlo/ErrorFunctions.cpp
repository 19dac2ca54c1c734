// The inverse of erf: M. Giles, "Approximating the erfinv function", GPU Computing Gems (2011); f64
// adds two Newton steps.
#include "passes/import/chlo/ScalarFunctions.h"

using namespace mlir;

namespace tessera::import {

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
      Expr end = (1.0 - x.abs()) - y.abs().apply<chlo::ErfcOp>();
      Expr error = (x.abs() <= 0.5).select(y.apply<chlo::ErfOp>() - x, (x < 0.0).select(-end, end));
      y = y - error * halfRootPi * (y * y).exp();
    }
    y = (x.abs() < 1e-9).select(x * halfRootPi, y); // the error would be subnormal
  }
  Expr infinite = x * x.number(std::numeric_limits<double>::infinity());
  return (x.abs() == 1.0).select(infinite, y);
}

} // namespace tessera::import
