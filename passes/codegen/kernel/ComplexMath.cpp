// W. Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit"
// (1987), for tanh and the care about zeros; R. L. Smith, "Algorithm 116: complex division" (1962).
#include "passes/codegen/kernel/ComplexMath.h"

#include <limits>

namespace tessera::codegen {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A node with arithmetic; numbers become constants of its kind.
struct Real {
  Graph *graph;
  Node *node;

  Real make(Op op) const { return {graph, graph->make(op, node->kind, {node})}; }
  Real make(Op op, Real other) const {
    return {graph, graph->make(op, node->kind, {node, other.node})};
  }
  Real number(double value) const { return {graph, graph->floatConstant(node->kind, value)}; }
  Real operator+(Real x) const { return make(Op::Add, x); }
  Real operator-(Real x) const { return make(Op::Sub, x); }
  Real operator*(Real x) const { return make(Op::Mul, x); }
  Real operator/(Real x) const { return make(Op::Div, x); }
  Real operator+(double x) const { return *this + number(x); }
  Real operator-(double x) const { return *this - number(x); }
  Real operator*(double x) const { return *this * number(x); }
  Real operator-() const { return make(Op::Neg); }
  Real abs() const { return make(Op::Abs); }
  Real max(Real x) const { return make(Op::Max, x); }
  Real min(Real x) const { return make(Op::Min, x); }
  Real sqrt() const { return make(Op::Sqrt); }
  Real exp() const { return make(Op::Exp); }
  Real expm1() const { return make(Op::Expm1); }
  Real log() const { return make(Op::Log); }
  Real log1p() const { return make(Op::Log1p); }
  Real sin() const { return make(Op::Sin); }
  Real cos() const { return make(Op::Cos); }
  Real tan() const { return make(Op::Tan); }
  Real atan2(Real x) const { return make(Op::Atan2, x); }
  Node *compare(Direction direction, double x) const {
    return graph->compare(direction, node, number(x).node);
  }
  Node *isInfinite() const { return abs().compare(EQ, infinity); }
  Node *isZero() const { return compare(EQ, 0); }
  // Not negative, where -0 is: by the sign bit.
  Node *isPositive() const {
    ElementKind bits = node->kind == ElementKind::F64 ? ElementKind::I64 : ElementKind::I32;
    Node *pattern = graph->make(Op::Bitcast, bits, {node});
    return graph->compare(GE, pattern, graph->constant(bits, 0));
  }
  Real withSignOf(Real sign) const;
};

Real choose(Node *predicate, Real a, Real b) {
  return {a.graph, a.graph->select(predicate, a.node, b.node)};
}

Real Real::withSignOf(Real sign) const {
  Real magnitude = abs();
  return choose(sign.isPositive(), magnitude, -magnitude);
}

struct Complex {
  Real re, im;
  Complex operator-() const { return {-re, -im}; }
};

Complex choose(Node *predicate, Complex a, Complex b) {
  return {choose(predicate, a.re, b.re), choose(predicate, a.im, b.im)};
}

// One function; `isWide`: the numbers came from f32, so squares neither over- nor underflow.
class ComplexMath {
public:
  ComplexMath(Graph &graph, bool isWide) : graph(graph), isWide(isWide) {}

  Real magnitude(Complex z);
  Complex times(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  Complex over(Complex a, Complex b);
  Complex exp(Complex z);
  Complex expm1(Complex z);
  Complex log(Complex z);
  Complex log1p(Complex z);
  Complex sin(Complex z);
  Complex cos(Complex z);
  Complex tan(Complex z);
  Complex tanh(Complex z);
  Complex logistic(Complex z);
  Complex sqrt(Complex z);
  Complex rsqrt(Complex z);
  Complex cbrt(Complex z);
  Complex sign(Complex z);
  Complex pow(Complex z, Complex w);
  Complex atan2(Complex y, Complex x);

private:
  Node *either(Node *a, Node *b) { return graph.make(Op::Or, ElementKind::I1, {a, b}); }
  Node *both(Node *a, Node *b) { return graph.logicalAnd(a, b); }
  Node *invert(Node *a) { return graph.make(Op::Not, ElementKind::I1, {a}); }
  Node *isFinite(Complex z) {
    return both(graph.make(Op::IsFinite, ElementKind::I1, {z.re.node}),
                graph.make(Op::IsFinite, ElementKind::I1, {z.im.node}));
  }
  Node *isInfinite(Complex z) { return either(z.re.isInfinite(), z.im.isInfinite()); }
  Node *isNaN(Real x) { return graph.compare(NE, x.node, x.node); }
  // Half of the logarithm of 1 + x, for squares.
  Real halfLog1p(Real x) { return x.log1p() * 0.5; }
  Real logOfMagnitude(Complex z);
  // a cosh y and b sinh y.
  Complex hyperbolic(Real a, Real b, Real y);
  Complex reciprocalQuotient(Complex a, Complex b);

  Graph &graph;
  bool isWide;
};

} // namespace

Real ComplexMath::magnitude(Complex z) {
  Real x = z.re.abs(), y = z.im.abs(), length = x;
  if (isWide) {
    length = (x * x + y * y).sqrt();
  } else {
    Real larger = x.max(y), ratio = x.min(y) / larger;
    length = choose(larger.isZero(), larger, larger * (ratio * ratio + 1).sqrt());
  }
  // NaN beats infinity.
  Node *isPlain = graph.make(Op::IsFinite, ElementKind::I1, {x.max(y).node});
  return choose(isPlain, length, x.max(y));
}

// By the larger part of the divisor, which scales.
Complex ComplexMath::reciprocalQuotient(Complex a, Complex b) {
  Node *byReal = graph.compare(GE, b.re.abs().node, b.im.abs().node);
  Real large = choose(byReal, b.re, b.im), small = choose(byReal, b.im, b.re);
  Real ratio = small / large, scale = large + small * ratio;
  Real p = choose(byReal, a.re, a.im), q = choose(byReal, a.im, a.re);
  Real re = (p + q * ratio) / scale, im = (q - p * ratio) / scale;
  return {re, choose(byReal, im, -im)};
}

Complex ComplexMath::over(Complex a, Complex b) {
  Complex quotient = {a.re, a.im};
  if (isWide) {
    Real square = b.re * b.re + b.im * b.im;
    quotient = {(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square};
  } else {
    quotient = reciprocalQuotient(a, b);
  }
  // What came out as NaN in both parts may be an infinity or zero after all.
  Real zero = a.re.number(0), one = a.re.number(1);
  Real infinite = a.re.number(infinity).withSignOf(b.re);
  Complex byZero = {infinite * a.re, infinite * a.im};
  auto unit = [&](Complex z) -> Complex {
    return {choose(z.re.isInfinite(), one, zero).withSignOf(z.re),
            choose(z.im.isInfinite(), one, zero).withSignOf(z.im)};
  };
  auto dot = [&](Complex p, Complex q, double scale) -> Complex {
    return {(p.re * q.re + p.im * q.im) * scale, (p.im * q.re - p.re * q.im) * scale};
  };
  Node *zeroDivisor = both(b.re.isZero(), b.im.isZero());
  Node *aIsInfinite = both(isInfinite(a), isFinite(b));
  Node *bIsInfinite = both(isInfinite(b), isFinite(a));
  Complex special = choose(zeroDivisor, byZero,
                           choose(aIsInfinite, dot(unit(a), b, infinity),
                                  choose(bIsInfinite, dot(a, unit(b), 0), quotient)));
  return choose(both(isNaN(quotient.re), isNaN(quotient.im)), special, quotient);
}

Complex ComplexMath::exp(Complex z) {
  // Half of the exponent at a time: e^x alone may overflow.
  Complex result = {z.re, z.im};
  Real cosine = z.im.cos(), sine = z.im.sin();
  if (isWide) {
    Real scale = z.re.exp();
    result = {scale * cosine, scale * sine};
  } else {
    Real scale = (z.re * 0.5).exp();
    result = {scale * cosine * scale, scale * sine * scale};
  }
  return {choose(z.im.isZero(), z.re.exp(), result.re), choose(z.im.isZero(), z.im, result.im)};
}

Complex ComplexMath::expm1(Complex z) {
  Complex plain = exp(z);
  Real half = (z.im * 0.5).sin();
  Real re = z.re.expm1() * z.im.cos() - half * half * 2;
  // Where e^x is large, the plain one is as good and never inf - inf.
  return {choose(z.re.compare(GT, 40), plain.re, choose(z.im.isZero(), z.re.expm1(), re)),
          plain.im};
}

Real ComplexMath::logOfMagnitude(Complex z) {
  Real x = z.re.abs(), y = z.im.abs(), large = x.max(y), small = x.min(y);
  Real near = halfLog1p((large - 1) * (large + 1) + small * small);
  Node *isExtreme = either(large.isZero(), large.isInfinite());
  Real ratio = choose(isExtreme, x.number(0), small / large);
  Real far = large.log() + halfLog1p(ratio * ratio);
  return choose(both(large.compare(GE, 0.5), large.compare(LE, 2)), near, far);
}

Complex ComplexMath::log(Complex z) { return {logOfMagnitude(z), z.im.atan2(z.re)}; }

Complex ComplexMath::log1p(Complex z) {
  Complex next = {z.re + 1, z.im};
  // |1 + z|^2 - 1
  Real near = halfLog1p(z.re * (z.re + 2) + z.im * z.im);
  Node *isSmall = both(z.re.abs().compare(LT, 0.5), z.im.abs().compare(LT, 1));
  return {choose(isSmall, near, logOfMagnitude(next)), z.im.atan2(next.re)};
}

Complex ComplexMath::hyperbolic(Real a, Real b, Real y) {
  Real size = y.abs(), less = size.expm1(), whole = less + 1;
  Real cosh = (whole + y.number(1) / whole) * 0.5;
  Real sinh = ((less + less / whole) * 0.5).withSignOf(y);
  Real half = (size * 0.5).exp(), signedHalf = half.withSignOf(y);
  Node *isLarge = size.compare(GT, 20);
  return {choose(isLarge, a * half * 0.5 * half, a * cosh),
          choose(isLarge, b * half * 0.5 * signedHalf, b * sinh)};
}

Complex ComplexMath::sin(Complex z) {
  Complex result = hyperbolic(z.re.sin(), z.re.cos(), z.im);
  return {choose(z.re.isZero(), z.re, result.re), result.im};
}

Complex ComplexMath::cos(Complex z) {
  Complex result = hyperbolic(z.re.cos(), -z.re.sin(), z.im);
  return {result.re, choose(z.re.isZero(), z.re.number(0), result.im)};
}

Complex ComplexMath::tanh(Complex z) {
  Real t = z.im.tan(), beta = t * t + 1;
  Real size = z.re.abs(), less = size.expm1();
  Real s = ((less + less / (less + 1)) * 0.5).withSignOf(z.re);
  Real rho = (s * s + 1).sqrt(), scale = beta * s * s + 1;
  Complex near = {beta * rho * s / scale, t / scale};
  Real rest = (size * -2).exp() * 4;
  Real one = z.re.number(1).withSignOf(z.re);
  Node *isKnown = either(z.re.isInfinite(), graph.make(Op::IsFinite, ElementKind::I1, {z.im.node}));
  Complex far = {choose(isKnown, one, z.im - z.im), z.im.sin() * z.im.cos() * rest};
  Real zero = z.re.number(0);
  far.im = choose(z.re.isInfinite(), zero.withSignOf(choose(isNaN(far.im), z.im, far.im)), far.im);
  Complex result = choose(size.compare(GT, 22), far, near);
  return {result.re, choose(z.im.isZero(), z.im, result.im)};
}

Complex ComplexMath::tan(Complex z) { // -i tanh(iz)
  Complex turned = tanh({-z.im, z.re});
  return {turned.im, -turned.re};
}

Complex ComplexMath::logistic(Complex z) {
  Node *isPositive = z.re.compare(GE, 0);
  Complex e = exp(choose(isPositive, -z, z)); // at most 1 in magnitude
  Real one = z.re.number(1);
  Complex numerator = {choose(isPositive, one, e.re), choose(isPositive, z.re.number(0), e.im)};
  // 1 + e^-|x| cos y by parts of one sign where it is small, at the poles.
  Real half = (z.im * 0.5).cos();
  Real whole = (-z.re.abs()).expm1() * z.im.cos() + half * half * 2;
  return over(numerator, {whole, e.im});
}

Complex ComplexMath::sqrt(Complex z) {
  Real x = z.re, y = z.im, back = x.number(1);
  if (!isWide) {
    Node *isLarge = graph.compare(GT, z.re.abs().max(z.im.abs()).node, x.number(1).node);
    Real scale = choose(isLarge, x.number(0.25), x.number(4));
    x = x * scale, y = y * scale;
    back = choose(isLarge, x.number(2), x.number(0.5));
  }
  Real t = ((x.abs() + magnitude({x, y})) * 0.5).sqrt();
  Real u = choose(t.isZero(), t, y.abs() / (t + t));
  Node *isSteep = both(y.isInfinite(), invert(isNaN(x)));
  u = choose(isSteep, y.abs(), u);
  t = choose(isSteep, y.abs(), t);
  Node *isRight = x.isPositive();
  return {choose(isRight, t, u) * back, choose(isRight, u, t).withSignOf(y) * back};
}

Complex ComplexMath::rsqrt(Complex z) { return over({z.re.number(1), z.re.number(0)}, sqrt(z)); }

Complex ComplexMath::cbrt(Complex z) {
  Real radius = magnitude(z).make(Op::Cbrt), angle = z.im.atan2(z.re) * (1.0 / 3);
  return {radius * angle.cos(), radius * angle.sin()};
}

Complex ComplexMath::sign(Complex z) {
  Real length = magnitude(z), zero = length.number(0);
  return choose(length.isZero(), {zero, zero}, {z.re / length, z.im / length});
}

Complex ComplexMath::pow(Complex z, Complex w) {
  // |z|^c e^(-d arg z) at the angle c arg z + d log |z|, w = c + id
  Real length = magnitude(z), angle = z.im.atan2(z.re), zero = z.re.number(0);
  Real radius =
      length.make(Op::Pow, w.re) * choose(w.im.isZero(), z.re.number(1), (-(w.im * angle)).exp());
  Real turn = w.re * angle + w.im * logOfMagnitude(z);
  Complex power = {radius * turn.cos(), radius * turn.sin()};
  Node *isReal = both(both(z.im.isZero(), z.re.compare(EQ, infinity)), w.im.isZero());
  power = choose(isReal, {z.re.make(Op::Pow, w.re), zero}, power);
  Node *baseIsZero = both(z.re.isZero(), z.im.isZero());
  Node *isOne =
      either(both(w.re.isZero(), w.im.isZero()), both(z.im.isZero(), z.re.compare(EQ, 1)));
  Node *vanishes = both(baseIsZero, both(w.im.isZero(), w.re.compare(GT, 0)));
  return choose(isOne, {z.re.number(1), zero}, choose(vanishes, {zero, zero}, power));
}

Complex ComplexMath::atan2(Complex y, Complex x) {
  // -i log((x + iy) / sqrt(x^2 + y^2))
  Complex sum = {x.re - y.im, x.im + y.re}, difference = {x.re + y.im, x.im - y.re};
  Complex root = sqrt(times(sum, difference)), q = times(y, y);
  Complex plain = log(over(sum, root));
  // Where y is small the logarithm is one of nearly 1, less which the quotient has (x - root),
  // which is -y^2 / (x + root), without cancellation if x is on the root's side.
  Complex rest = over(q, {x.re + root.re, x.im + root.im});
  Complex less = over({-y.im - rest.re, y.re - rest.im}, root);
  Node *isNear = both((x.re * root.re + x.im * root.im).compare(GT, 0),
                      both(less.re.abs().compare(LT, 0.5), less.im.abs().compare(LT, 0.5)));
  Complex logarithm = choose(isNear, log1p(less), plain);
  return {logarithm.im, -logarithm.re};
}

Element complexFunction(Graph &graph, Op op, ElementKind kind, llvm::ArrayRef<Element> operands) {
  bool isWide = kind == ElementKind::F32;
  ComplexMath math(graph, isWide);
  auto widen = [&](Element z) -> Complex {
    auto part = [&](Node *node) -> Real { return {&graph, graph.convert(node, ElementKind::F64)}; };
    return {part(z.re), part(z.im)};
  };
  auto narrow = [&](Real x) { return graph.convert(x.node, kind); };
  auto result = [&](Complex z) { return Element{narrow(z.re), narrow(z.im)}; };
  Complex a = widen(operands[0]), b = operands.size() > 1 ? widen(operands[1]) : a;
  switch (op) {
  case Op::Abs:
    return {narrow(math.magnitude(a))};
  case Op::Div:
    return result(math.over(a, b));
  case Op::Exp:
    return result(math.exp(a));
  case Op::Expm1:
    return result(math.expm1(a));
  case Op::Log:
    return result(math.log(a));
  case Op::Log1p:
    return result(math.log1p(a));
  case Op::Sin:
    return result(math.sin(a));
  case Op::Cos:
    return result(math.cos(a));
  case Op::Tan:
    return result(math.tan(a));
  case Op::Tanh:
    return result(math.tanh(a));
  case Op::Logistic:
    return result(math.logistic(a));
  case Op::Sqrt: {
    // The lower side of the branch cut has the upper one's root.
    Node *isOnCut = graph.logicalAnd(a.im.isZero(), a.re.compare(LT, 0));
    a.im = choose(isOnCut, a.im.number(0), a.im);
    return result(math.sqrt(a));
  }
  case Op::Rsqrt:
    return result(math.rsqrt(a));
  case Op::Cbrt:
    return result(math.cbrt(a));
  case Op::Sign:
    return result(math.sign(a));
  case Op::Pow:
    return result(math.pow(a, b));
  case Op::Atan2:
    return result(math.atan2(a, b));
  default:
    return {};
  }
}

} // namespace tessera::codegen
