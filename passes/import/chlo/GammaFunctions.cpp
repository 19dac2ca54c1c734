// Gamma and its relatives, zeta, and a Bessel function.
//
// lgamma and digamma: C. Lanczos, "A precision approximation of the gamma function" (1964), with P.
// Godfrey's coefficients for g = 7, and Euler's reflection for x < 1/2; about their positive zeros
// polynomials of our own (Chebyshev interpolation of lgamma(x) / ((x - 1) (x - 2)) and digamma(x) /
// (x - zero)), with the recurrences. zeta: Euler-Maclaurin summation. I1: its power series, and a
// polynomial in 1/x of our own.
//
// All of them are computed in f64, whatever the type: f32 has no digits to lose near their zeros.
#include "passes/import/chlo/ScalarFunctions.h"

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

// lgamma on [1/2, 15/2]: from x moved to 2 + t in [3/2, 5/2] by the recurrence. (2 + t would lose
// bits of t.)
struct MovedLgamma {
  Expr near;    // lgamma(2 + t)
  Expr product; // the factors between the gammas of x and of 2 + t
  Expr isBelow; // x is less than 2 + t
};
static MovedLgamma lgammaCentre(Expr x) {
  Expr whole = (x + 0.5).floor(), t = x - whole;
  Expr near =
      (t + 1.0) * t *
      polynomial(t + t, {4.59095297373529e-13, -1.9267924064320764e-12, 5.926129300171418e-12,
                         -2.5051841561037664e-11, 1.1062065421231002e-10, -4.707414073873874e-10,
                         2.0071970014794e-09, -8.62314160999568e-09, 3.7274374879083245e-08,
                         -1.6229545557682996e-07, 7.130962303634812e-07, -3.169588976392627e-06,
                         1.430276441219686e-05, -6.587908856948172e-05, 0.0003124150727934668,
                         -0.0015480240241709335, 0.008241250155288959, -0.050158650837176966,
                         0.42278433509846713});
  Expr isBelow = whole < 2.0;
  Expr product = isBelow.select(x, t + 2.0);
  for (int i = 3; i < 7; ++i)
    product = (whole > double(i)).select(product * (t + double(i)), product);
  return {near, (whole == 2.0).select(x.number(1.0), product), isBelow};
}

// digamma on [1/2, 3]: from x moved into [1, 2].
static Expr digammaCentre(Expr x) {
  Expr up = x < 1.0, down = x > 2.0;
  Expr y = up.select(x + 1.0, down.select(x - 1.0, x));
  // The zero, to twice f64's digits.
  Expr distance = (y - 1.4616321449683622) - 9.549995429965697e-17;
  Expr near = distance *
              polynomial(y + y - 3.0,
                         {-9.720300404202244e-12, 2.916093601085364e-11,   -2.9161179626023815e-11,
                          8.748420037436287e-11,  -4.1555064115551965e-10, 1.2466690231864029e-09,
                          -3.509235492410718e-09, 1.0528133851878114e-08,  -3.1807298477301726e-08,
                          9.543261570760428e-08,  -2.8621216825577647e-07, 8.589062683365892e-07,
                          -2.578133701610713e-06, 7.741234441368395e-06,   -2.325823275895313e-05,
                          6.99501882655044e-05,   -0.00021074841284590126, 0.0006368880303847901,
                          -0.0019350666647392832, 0.005936795278301875,    -0.018550615381739702,
                          0.06013562106019684,    -0.21181371064073024,    0.9510558760318328});
  Expr step = 1.0 / up.select(x, y);
  return up.select(near - step, down.select(near + step, near));
}

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
  Expr direct = (z + 0.5 - t / logT) * logT + 0.5 * std::log(2 * pi);
  Expr sine = (fraction(x).abs() * pi).apply<stablehlo::SineOp>();
  MovedLgamma moved = lgammaCentre(x);
  // Each of the three has one logarithm to add, or to subtract: it is taken of what is selected.
  Expr isCentral = x < 7.5;
  Expr logarithm = reflected.select(sine * sum, isCentral.select(moved.product, sum)).log();
  Expr mirrored = x.number(std::log(pi)) - logarithm - direct;
  Expr central = moved.isBelow.select(moved.near - logarithm, moved.near + logarithm);
  Expr result = reflected.select(mirrored, isCentral.select(central, direct + logarithm));
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
  Expr result =
      reflected.select(direct - cotangent * pi, (x <= 3.0).select(digammaCentre(x), direct));
  Expr pole = (x <= 0.0).apply<stablehlo::AndOp>(fraction(x) == 0.0);
  return pole.select(x.number(std::numeric_limits<double>::quiet_NaN()), result);
}

Expr zeta(Expr x, Expr q) {
  // The first 16 terms, the integral of the rest, and corrections by Bernoulli numbers over
  // factorials.
  constexpr int terms = 16;
  Expr minus = -x;
  Expr a = q + double(terms);
  Expr power = a.pow(minus);
  Expr sum = power * 0.5;
  // B_2k / (2k)! for k = 1 ..
  static constexpr double bernoulli[] = {0.083333333333333333,   -0.0013888888888888889,
                                         3.3068783068783069e-05, -8.2671957671957672e-07,
                                         2.0876756987868099e-08, -5.2841901386874932e-10,
                                         1.3382536530684679e-11, -3.3896802963225829e-13,
                                         8.5860620562778446e-15, -2.1748686985580619e-16};
  Expr factor = x, inverse = 1.0 / a, integral = power * a / (x - 1.0);
  power = power * inverse;
  for (auto [k, b] : llvm::enumerate(bernoulli)) {
    sum = sum + factor * power * b;
    factor = factor * (x + double(2 * k + 1)) * (x + double(2 * k + 2));
    power = power * inverse * inverse;
  }
  for (int i = terms - 1; i >= 0; --i) // the larger the later
    sum = sum + (q + double(i)).pow(minus);
  sum = sum + integral;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  Expr nan = x.number(std::numeric_limits<double>::quiet_NaN());
  Expr infinity = x.number(infinite);
  // Left of zero there are poles at the integers, and values between them for integral x only; so
  // far left that the sum above has not reached positive terms they are not known here.
  Expr isWhole = x.floor().compare(stablehlo::ComparisonDirection::EQ, x);
  Expr half = x * 0.5;
  Expr isEven = half.floor().compare(stablehlo::ComparisonDirection::EQ, half);
  Expr isPole = q.floor().compare(stablehlo::ComparisonDirection::EQ, q);
  Expr left = isPole.select(nan, isWhole.apply<stablehlo::AndOp>(q > -8.0).select(sum, nan));
  Expr inDomain = (x > 1.0).apply<stablehlo::AndOp>(x < infinite);
  Expr value = inDomain.select((q <= 0.0).select(left, sum), nan);
  // At poles JAX has no lower bound for x.
  Expr isEvenAtPole = isPole.apply<stablehlo::AndOp>(q <= 0.0)
                          .apply<stablehlo::AndOp>(isEven)
                          .apply<stablehlo::AndOp>(x.abs() < infinite);
  value = isEvenAtPole.select(infinity, value);
  return (x == 1.0).select(infinity, value);
}

// n! of integral n >= 0, from a table.
static Expr factorial(Expr n) {
  constexpr int64_t count = 172; // 171! is infinite
  double table[count];
  long double product = 1;
  for (int64_t i = 0; i < count; ++i) {
    product *= std::max<int64_t>(i, 1);
    table[i] = static_cast<double>(product);
  }
  OpBuilder &b = *n.builder;
  auto type = RankedTensorType::get({count}, b.getF64Type());
  Value values = stablehlo::ConstantOp::create(
      b, n.loc, DenseElementsAttr::get(type, ArrayRef<double>(table)));
  Expr index = n.apply<stablehlo::MinOp>(n.number(count)).convert(b.getI32Type());
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(b.getContext(), {}, {0}, {}, {}, {0},
                                                            n.type().getRank());
  return Expr(
      b, n.loc,
      stablehlo::GatherOp::create(b, n.loc, values, index.get(), numbers, ArrayRef<int64_t>{1}));
}

Expr polygamma(Expr n, Expr x) {
  Expr order = n + 1.0;
  Expr parity = (n * 0.5 - (n * 0.5).floor()) == 0.0; // n even
  Expr value = factorial(n) * zeta(order, x);
  value = parity.select(-value, value);
  Expr isWhole = n.floor().compare(stablehlo::ComparisonDirection::EQ, n);
  Expr isOrder = isWhole.apply<stablehlo::AndOp>(n > -1.0);
  value = isOrder.select(value, n.number(std::numeric_limits<double>::quiet_NaN()));
  return (n == 0.0).select(digamma(x), value);
}

// e^-x I1(x): up to 8 by the series sum (x/2)^(2k+1) / (k! (k+1)!), whose terms have one sign.
Expr besselI1e(Expr x) {
  Expr y = x.abs();
  Expr bounded = y.apply<stablehlo::MinOp>(y.number(8.0)), z = bounded * bounded * 0.25;
  constexpr int terms = 25;
  double series[terms], term = 0.5;
  for (int k = 0; k < terms; ++k) {
    series[terms - 1 - k] = term;
    term /= (k + 1.0) * (k + 2.0);
  }
  Expr small = bounded * polynomial(z, series) * (-bounded).exp();
  // e^-x I1(x) sqrt(x) in t = 16/x - 1; 2e-17
  Expr t = 16.0 / y.apply<stablehlo::MaxOp>(y.number(8.0)) - 1.0;
  Expr large =
      polynomial(t, {7.347992441734663e-11,   1.7502497778701306e-11,  -5.388285995923524e-10,
                     -1.342266320082222e-10,  1.8513716745511988e-09,  5.146498826087142e-10,
                     -4.047785403711858e-09,  -1.4171698018664596e-09, 6.4870195719816896e-09,
                     3.406636130196794e-09,   -8.044231276166508e-09,  -7.630751970065577e-09,
                     6.040877342160988e-09,   1.4029693589852716e-08,  6.715795128085017e-09,
                     -8.426622829598154e-09,  -2.337059627111857e-08,  -4.312935369971356e-08,
                     -1.0001323461066435e-07, -3.483855609009937e-07,  -1.8349101134666435e-06,
                     -1.5038547201176271e-05, -0.00021923576383430274, -0.009749577193235728,
                     0.38939845902587233}) /
      y.sqrt();
  Expr result = (y <= 8.0).select(small, large);
  return (x < 0.0).select(-result, (x == 0.0).select(x, result));
}

} // namespace tessera::import
