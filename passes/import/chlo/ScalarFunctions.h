// Elementwise functions beyond the StableHLO specification, written as StableHLO arithmetic.
#pragma once

#include "dialects/chlo/ChloOps.h"
#include "mlir/IR/Builders.h"

namespace tessera::import {

/// A tensor value with arithmetic: `x * x + 1.0` builds the operations. All operands of an
/// expression have one type; numbers become constants of it.
class Expr {
public:
  Expr(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}

  mlir::Value get() const { return value; }
  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  mlir::Type element() const { return type().getElementType(); }
  bool isDouble() const { return element().isF64(); }

  /// A constant of this value's type.
  Expr number(double number) const;
  /// The elementwise operation `Op` on this value and `operands`.
  template <typename Op, typename... Operands> Expr apply(Operands... operands) const {
    return Expr(*builder, loc, Op::create(*builder, loc, value, operands.get()...).getResult());
  }
  Expr convert(mlir::Type element) const;
  Expr compare(stablehlo::ComparisonDirection direction, Expr other) const;
  /// This i1 value chooses.
  Expr select(Expr onTrue, Expr onFalse) const {
    return apply<stablehlo::SelectOp>(onTrue, onFalse);
  }

  Expr exp() const { return apply<stablehlo::ExpOp>(); }
  Expr log() const { return apply<stablehlo::LogOp>(); }
  Expr log1p() const { return apply<stablehlo::Log1pOp>(); }
  Expr expm1() const { return apply<stablehlo::Expm1Op>(); }
  Expr sqrt() const { return apply<stablehlo::SqrtOp>(); }
  Expr abs() const { return apply<stablehlo::AbsOp>(); }
  Expr floor() const { return apply<stablehlo::FloorOp>(); }
  Expr pow(Expr exponent) const { return apply<stablehlo::PowOp>(exponent); }
  Expr operator-() const { return apply<stablehlo::NegOp>(); }
  Expr operator+(Expr other) const { return apply<stablehlo::AddOp>(other); }
  Expr operator-(Expr other) const { return apply<stablehlo::SubtractOp>(other); }
  Expr operator*(Expr other) const { return apply<stablehlo::MulOp>(other); }
  Expr operator/(Expr other) const { return apply<stablehlo::DivOp>(other); }
  Expr operator+(double other) const { return *this + number(other); }
  Expr operator-(double other) const { return *this - number(other); }
  Expr operator*(double other) const { return *this * number(other); }
  Expr operator/(double other) const { return *this / number(other); }
  Expr operator<(double other) const {
    return compare(stablehlo::ComparisonDirection::LT, number(other));
  }
  Expr operator<=(double other) const {
    return compare(stablehlo::ComparisonDirection::LE, number(other));
  }
  Expr operator>(double other) const {
    return compare(stablehlo::ComparisonDirection::GT, number(other));
  }
  Expr operator==(double other) const {
    return compare(stablehlo::ComparisonDirection::EQ, number(other));
  }

  mlir::OpBuilder *builder;
  mlir::Location loc;

private:
  mlir::Value value;
};

inline Expr operator-(double a, Expr b) { return b.number(a) - b; }
inline Expr operator/(double a, Expr b) { return b.number(a) / b; }

/// coefficients[0] x^n + .. + coefficients[n], by Horner's rule.
Expr polynomial(Expr x, llvm::ArrayRef<double> coefficients);

// On f32 or f64. Accuracy: a few units in the last place, unless said.
Expr erfInv(Expr x);
// On f64 only:
Expr lgamma(Expr x);            // relative error 1e-13 away from its zeros
Expr digamma(Expr x);           // relative error 1e-13 away from its zeros
Expr zeta(Expr x, Expr q);      // Hurwitz's, for x > 1 and q > -8
Expr polygamma(Expr n, Expr x); // for integral n >= 0 and x > -8
Expr besselI1e(Expr x);
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);
Expr nextAfter(Expr x, Expr y);

/// Of complex<f32> and complex<f64>.
enum class ComplexFunction {
  Asin,
  Acos,
  Atan,
  Asinh,
  Acosh,
  Atanh,
  Sinh,
  Cosh,
  Tan,
  AsinAcosKernel
};
mlir::Value complexFunction(mlir::OpBuilder &b, mlir::Location loc, mlir::Value operand,
                            ComplexFunction function);

} // namespace tessera::import
