// Elementary functions on f32 scalars and vectors as inline polynomial code, within 4 ULP; no
// lookups in memory, no calls but for rare arguments. f64 goes to libm, lane by lane.
#pragma once

#include "passes/codegen/cpu/CpuTarget.h"
#include "passes/codegen/kernel/Graph.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <array>

namespace tessera::codegen {

class VectorMath {
public:
  using Value = llvm::Value *;
  VectorMath(llvm::IRBuilder<> &builder, const VectorFeatures &features)
      : b(builder), looksUp(features.lookUps && features.bytes == 64) {}

  // f32 (or a vector of it); the operation must be one of the elementary functions of Op. Null: not
  // known here.
  Value apply(Op op, llvm::ArrayRef<Value> operands);
  // Any float type by the C library, one lane at a time.
  Value callEachLane(llvm::StringRef function, llvm::ArrayRef<Value> operands);

  Value maximum(Value x, Value y); // NaN if either is
  Value minimum(Value x, Value y);

private:
  Value exp(Value x);
  Value expByTable(Value x);
  Value lookUp(Value places, const std::array<uint32_t, 16> &table);
  Value scale(Value x, Value exponent);
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
  Value erfCentre(Value x);  // erf on |x| <= 1
  Value log2Double(Value x); // of positive finite doubles
  Value exp2Double(Value x);

  // x - n ln 2 and n for the exponential functions.
  struct Reduced {
    Value rest, exponent; // exponent: i32
  };
  Reduced reduceExponent(Value x);
  Value power2(Value exponent); // normal results only

  Value number(Value like, double value) { return llvm::ConstantFP::get(like->getType(), value); }
  Value integer(Value like, int64_t value); // of the integer type as wide as `like`
  llvm::Type *integerType(Value like);
  Value bits(Value x) { return b.CreateBitCast(x, integerType(x)); }
  Value fma(Value x, Value y, Value z);
  Value horner(Value x, llvm::ArrayRef<double> coefficients); // lowest first
  Value abs(Value x);
  Value copySign(Value magnitude, Value sign);
  Value select(Value predicate, Value x, Value y) { return b.CreateSelect(predicate, x, y); }

  llvm::IRBuilder<> &b;
  bool looksUp; // small tables by permutations of a register
};

} // namespace tessera::codegen
