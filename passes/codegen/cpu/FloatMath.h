// What functions of f32 and of f64 are written with: scalars and vectors alike.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tessera::codegen {

class FloatMath {
public:
  using Value = llvm::Value *;
  explicit FloatMath(llvm::IRBuilder<> &builder) : b(builder) {}

  // A function of scalars (its name as it is linked), one lane at a time.
  Value callEachLane(llvm::StringRef function, llvm::ArrayRef<Value> operands);
  // What is left of f32 numbers x in whole multiples of y, exactly, with the sign of x.
  Value remainder(Value x, Value y);
  Value maximum(Value x, Value y); // NaN if either is
  Value minimum(Value x, Value y);

protected:
  Value number(Value like, double value) { return llvm::ConstantFP::get(like->getType(), value); }
  Value integer(Value like, int64_t value); // of the integer type as wide as `like`
  llvm::Type *integerType(Value like);
  Value bits(Value x) { return b.CreateBitCast(x, integerType(x)); }
  Value fma(Value x, Value y, Value z);
  Value horner(Value x, llvm::ArrayRef<double> coefficients); // lowest first
  Value abs(Value x);
  Value copySign(Value magnitude, Value sign);
  Value select(Value predicate, Value x, Value y) { return b.CreateSelect(predicate, x, y); }
  Value power2(Value exponent); // normal results only
  // x^y, with the sign and in the corner cases that it has, from what |x|^y is elsewhere.
  Value powerOfSigned(Value x, Value y, Value magnitude);
  // `values`, but in lanes where `predicate` is on those of `compute`, which is rarely run.
  llvm::SmallVector<Value> unlessRare(Value predicate, llvm::ArrayRef<Value> values,
                                      llvm::function_ref<llvm::SmallVector<Value>()> compute);

  llvm::IRBuilder<> &b;
};

// A vector of `scalar` as long as `type`, or that scalar.
llvm::Type *likeType(llvm::Type *type, llvm::Type *scalar);

} // namespace tessera::codegen
