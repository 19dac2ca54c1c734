// Gamma and its relatives, zeta, and a Bessel function.
//
// lgamma and digamma: C. Lanczos, "A precision approximation of the gamma function" (1964), with P.
// Godfrey's coefficients for g = 7, and Euler's reflection for x < 1/2. zeta: Euler-Maclaurin
// summation. I1: M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 9.8.3
// and 9.8.4.
#include "passes/import/ScalarFunctions.h"

using namespace mlir;

namespace tessera::import {

static constexpr double pi = 3.14159265358979323846;
static constexpr double lanczosG = 7.0, lanczosFirst = 0.99999999999980993227684700473478;
static constexpr double lanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

// Distance to the nearest integer, for sin(pi x) and its like at large x.
static Expr fraction(Expr x) { return x - x.apply<stablehlo::RoundNearestEvenOp>(); }

Expr lgamma(Expr x) {
  Expr reflected = x < 0.5;
  Expr z = reflected.select(-x, x - 1.0); // gamma(z + 1)
  Expr sum = x.number(lanczosFirst);
  for (auto [i, c] : llvm::enumerate(lanczos))
    sum = sum + z.number(c) / (z + double(i + 1));
  // (z + 1/2) log t - t, with log t as log(g + 1/2) + log1p(z / (g + 1/2)) so that small z keep
  // their digits.
  double shift = lanczosG + 0.5;
  Expr logT = (z / shift).log1p() + std::log(shift);
  Expr t = z + shift;
  Expr direct = (z + 0.5 - t / logT) * logT + (sum.log() + 0.5 * std::log(2 * pi));
  Expr sine = (fraction(x).abs() * pi).apply<stablehlo::SineOp>();
  Expr mirrored = x.number(std::log(pi)) - sine.log() - direct;
  Expr result = reflected.select(mirrored, direct);
  Expr infinity = x.number(std::numeric_limits<double>::infinity());
  Expr pole = (x <= 0.0).apply<stablehlo::AndOp>(fraction(x) == 0.0);
  result = pole.select(infinity, result);
  return (x.abs() == std::numeric_limits<double>::infinity()).select(infinity, result);
}

Expr digamma(Expr x) {
  Expr reflected = x < 0.5;
  Expr z = reflected.select(-x, x - 1.0);
  Expr sum = x.number(lanczosFirst), slope = x.number(0.0);
  for (auto [i, c] : llvm::enumerate(lanczos)) {
    Expr d = z + double(i + 1);
    Expr term = z.number(c) / d;
    sum = sum + term;
    slope = slope - term / d;
  }
  double shift = lanczosG + 0.5;
  Expr t = z + shift;
  Expr direct = (z / shift).log1p() + std::log(shift) + slope / sum - z.number(lanczosG) / t;
  Expr angle = fraction(x) * pi;
  Expr cotangent = angle.apply<stablehlo::CosineOp>() / angle.apply<stablehlo::SineOp>();
  Expr result = reflected.select(direct - cotangent * pi, direct);
  Expr pole = (x <= 0.0).apply<stablehlo::AndOp>(fraction(x) == 0.0);
  return pole.select(x.number(std::numeric_limits<double>::quiet_NaN()), result);
}

Expr zeta(Expr x, Expr q) {
  // The first 12 terms, the integral of the rest, and corrections by Bernoulli numbers over
  // factorials.
  constexpr int terms = 12;
  Expr minus = -x;
  Expr sum = q.pow(minus), a = q;
  for (int i = 1; i < terms; ++i) {
    a = a + 1.0;
    sum = sum + a.pow(minus);
  }
  a = a + 1.0;
  Expr power = a.pow(minus);
  sum = sum + power * a / (x - 1.0) + power * 0.5;
  // B_2k / (2k)! for k = 1 ..
  static constexpr double bernoulli[] = {1.0 / 12,           -1.0 / 720,
                                         1.0 / 30240,        -1.0 / 1209600,
                                         1.0 / 47900160,     -691.0 / 1307674368000,
                                         1.0 / 74724249600., -3617.0 / 10670622842880000.};
  Expr factor = x, inverse = 1.0 / a;
  power = power * inverse;
  for (auto [k, b] : llvm::enumerate(bernoulli)) {
    sum = sum + factor * power * b;
    factor = factor * (x + double(2 * k + 1)) * (x + double(2 * k + 2));
    power = power * inverse * inverse;
  }
  Expr nan = x.number(std::numeric_limits<double>::quiet_NaN());
  Expr infinity = x.number(std::numeric_limits<double>::infinity());
  Expr domain = (x > 1.0).apply<stablehlo::AndOp>(q > 0.0);
  return (x == 1.0).select(infinity, domain.select(sum, nan));
}

Expr polygamma(Expr n, Expr x) {
  Expr order = n + 1.0;
  Expr parity = (n * 0.5 - (n * 0.5).floor()) == 0.0; // n even
  Expr value = lgamma(order).exp() * zeta(order, x);
  return (n == 0.0).select(digamma(x), parity.select(-value, value));
}

Expr besselI1e(Expr x) {
  Expr y = x.abs(), t = x / 3.75, z = t * t;
  Expr small =
      x *
      polynomial(z, {0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869, 0.87890594, 0.5}) *
      (-y).exp();
  Expr u = 3.75 / y;
  Expr large = polynomial(u, {-0.00420059, 0.01787654, -0.02895312, 0.02282967, -0.01031555,
                              0.00163801, -0.00362018, -0.03988024, 0.39894228}) /
               y.sqrt();
  large = (x < 0.0).select(-large, large);
  return (y <= 3.75).select(small, large);
}

} // namespace tessera::import
