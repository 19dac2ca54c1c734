// Elementary functions of f64 on scalars and vectors, without tables but for the digits of 2 / pi
// (angles beyond 2^29). What decides the last place is kept in two numbers: docs/numbers.md has the
// distances from the exact values.
//
// A kernel calls a function for each (`callDouble`), which `defineDoubles` writes: code for CPUs has
// one of each, code for GPUs one at each call.
#pragma once

#include "passes/codegen/cpu/FloatMath.h"
#include "passes/codegen/kernel/Graph.h"

#include <array>

namespace tessera::codegen {

class DoubleMath : public FloatMath {
public:
  using FloatMath::FloatMath;

  // A number as the sum of two, of which the second is small.
  struct Pair {
    Value hi, lo;
  };
  // `rest` within half of a quadrant, and its quadrant, of which two bits count.
  struct Angle {
    Pair rest;
    Value quadrant;
  };

  // One of the elementary functions of Op.
  Value apply(Op op, llvm::ArrayRef<Value> operands);
  Angle hugeAngle(Value x); // of |x| > 2^29
  // Of a scalar x of that kind the rest, what rounding it lost, or the quadrant as a number.
  Value partOfAngle(unsigned part, Value x);

  // Some 45 digits.
  Value log2Near(Value x); // of positive finite numbers
  Value exp2Near(Value x);

private:
  Pair fastSum(Value x, Value y); // |x| >= |y|, or x = 0
  Pair sum(Value x, Value y);
  Pair product(Value x, Value y);
  Pair product(Pair x, Pair y);
  Pair product(Pair x, std::array<double, 2> y);
  Pair quotient(Pair x, Pair y);
  Pair series(Pair x, llvm::ArrayRef<std::array<double, 2>> leading, llvm::ArrayRef<double> tail);
  Value total(Pair x) { return b.CreateFAdd(x.hi, x.lo); }
  Pair selectPair(Value predicate, Pair x, Pair y) {
    return {select(predicate, x.hi, y.hi), select(predicate, x.lo, y.lo)};
  }
  Value between(Value x, double low, double high); // NaN stays

  // exp(x) = 2^n (1 + rest + tail)
  struct Exponential {
    Value shifted, n, rest, tail;
  };
  Exponential reduceExponent(Pair x);
  Value scale(Value x, Value n); // x 2^n, n a number from -1200 to 1200
  Pair exp(Pair x);
  Pair expm1Pair(Value x); // x in [-60, 60]
  Value expm1(Value x);
  Pair log(Value x, Value rest); // log(x + rest) of positive finite numbers
  Value ofPositive(Value x, Value logarithm);
  Value log(Value x);
  Value log1p(Value x);
  Value logistic(Value x);
  Value tanh(Value x);
  Value pow(Value x, Value y);
  Value cbrt(Value x);
  Angle angle(Value x);
  Value sineOrCosine(Op op, Value x);
  Value atan2(Value y, Value x);
  Value erfCentre(Value x); // erf on |x| <= 1
  Value erfcTail(Value x);  // erfc on x >= 0.46
  Value erf(Value x);
  Value erfc(Value x);
};

// What computes the parts of an angle in a module.
inline constexpr std::array<const char *, 3> kPartsOfAngles = {"f64.angle", "f64.angle_lost",
                                                               "f64.angle_quadrant"};

// A call of a function of f64 that `defineDoubles` writes.
llvm::Value *callDouble(llvm::IRBuilder<> &b, Op op, llvm::ArrayRef<llvm::Value *> operands);
// Writes the functions that a module calls so.
void defineDoubles(llvm::Module &module);
// Whether it is one of those.
bool isDoubleFunction(const llvm::Function &function);

} // namespace tessera::codegen
