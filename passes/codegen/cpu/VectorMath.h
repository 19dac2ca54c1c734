// Elementary functions on f32 scalars and vectors as inline polynomial code, within 4 ULP; no
// lookups in memory, no calls but for rare arguments. DoubleMath.h has those of f64.
#pragma once

#include "passes/codegen/cpu/CpuTarget.h"
#include "passes/codegen/cpu/FloatMath.h"
#include "passes/codegen/kernel/Graph.h"

#include <array>

namespace tessera::codegen {

class VectorMath : public FloatMath {
public:
  VectorMath(llvm::IRBuilder<> &builder, const VectorFeatures &features)
      : FloatMath(builder), looksUp(features.lookUps && features.bytes == 64) {}

  // f32 (or a vector of it); the operation must be one of the elementary functions of Op. Null: not
  // known here.
  Value apply(Op op, llvm::ArrayRef<Value> operands);

  // The same of numbers of bf16, whose result is rounded to bf16 (BfloatMath.cpp). Null: as of f32.
  Value applyToBf16(Op op, llvm::ArrayRef<Value> operands);

  // x / divisor of f32, rounded correctly, without a division for each x (Quotient.cpp). Null: the divisor
  // is not the same in all lanes, or a division is as quick.
  Value quotientByShared(Value x, Value divisor);

private:
  Value exp(Value x);
  Value expByTable(Value x);
  Value expOfBf16(Value x);
  Value quotientOfBf16(Value x, Value divisor);
  static const std::array<uint32_t, 16> powersOfTwo; // 2^(i/16)
  Value lookUp(Value places, const std::array<uint32_t, 16> &table);
  Value scale(Value x, Value exponent);
  // x = m 2^e, 1 <= |m| < 2. Of 0, infinity and NaN e is -infinity, infinity and NaN.
  Value significand(Value x);
  Value exponent(Value x);
  Value withinMagnitude(Value x, float most);
  Value byRegisters(llvm::ArrayRef<Value> values,
                    llvm::function_ref<Value(llvm::ArrayRef<Value>)> compute);
  Value expm1(Value x);
  Value expm1OfNegative(Value x); // x in [-87, 0]
  Value log(Value x);
  Value log1p(Value x);
  Value logistic(Value x);
  Value tanh(Value x);
  Value pow(Value x, Value y);
  Value cbrt(Value x);
  Value erf(Value x);
  Value erfc(Value x);
  Value atan2(Value y, Value x);
  struct SinCos {
    Value sin, cos;
  };
  SinCos sinCos(Value x);
  Value sineOrCosine(Op op, Value x);
  Value erfCentre(Value x); // erf on |x| <= 1

  // x - n ln 2 and n for the exponential functions.
  struct Reduced {
    Value rest, exponent; // exponent: i32
  };
  Reduced reduceExponent(Value x);

  bool looksUp; // small tables by permutations of a register
};

} // namespace tessera::codegen
