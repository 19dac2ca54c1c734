// Writes the chlo dialect's functions as arithmetic and sorts of the StableHLO specification, but
// for those that kernels compute.
//
// Functions with real approximations are in ErrorFunctions.cpp, GammaFunctions.cpp and
// HyperbolicFunctions.cpp. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/sdy/KeepSharding.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/import/chlo/DecomposeTopK.h"
#include "passes/import/chlo/ScalarFunctions.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_DECOMPOSECHLO
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace import {

Expr Expr::number(double number) const {
  auto element = cast<FloatType>(this->element());
  APFloat value(number);
  bool lossy;
  value.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
  return Expr(*builder, loc,
              stablehlo::ConstantOp::create(*builder, loc, DenseElementsAttr::get(type(), value))
                  .getResult());
}

Expr Expr::convert(Type element) const {
  if (element == this->element())
    return *this;
  return Expr(
      *builder, loc,
      stablehlo::ConvertOp::create(*builder, loc, type().clone(element), value).getResult());
}

Expr Expr::compare(stablehlo::ComparisonDirection direction, Expr other) const {
  return Expr(
      *builder, loc,
      stablehlo::CompareOp::create(*builder, loc, value, other.get(), direction).getResult());
}

Expr polynomial(Expr x, ArrayRef<double> coefficients) {
  Expr sum = x.number(coefficients.front());
  for (double c : coefficients.drop_front())
    sum = sum * x + c;
  return sum;
}

} // namespace import

namespace {

using import::Expr;

// A function of f32 or f64, at the operands' type: narrower ones go through f32, or all through
// f64.
template <typename... Operands>
FailureOr<Value> inFloat(Operation *op, Expr (*function)(Operands...), bool inDouble = false) {
  OpBuilder builder(op);
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  if (!element)
    return op->emitError("takes floating-point values only; write it by real and imaginary parts"),
           failure();
  Type wide = inDouble                  ? Type(builder.getF64Type())
              : element.getWidth() < 32 ? Type(builder.getF32Type())
                                        : Type(element);
  auto operand = [&](unsigned i) {
    return Expr(builder, op->getLoc(), op->getOperand(i)).convert(wide);
  };
  if constexpr (sizeof...(Operands) == 1)
    return function(operand(0)).convert(element).get();
  else {
    Expr first = operand(0), second = operand(1);
    return function(first, second).convert(element).get();
  }
}

FailureOr<Value> realOrComplex(Operation *op, Expr (*real)(Expr),
                               import::ComplexFunction function) {
  if (!isa<ComplexType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return inFloat(op, real);
  OpBuilder builder(op);
  return import::complexFunction(builder, op->getLoc(), op->getOperand(0), function);
}

// The operand repeated to `shape`: its dimensions are the last ones, or those that `dims` names.
Value broadcastTo(OpBuilder &b, Location loc, Value operand, ArrayRef<int64_t> shape,
                  std::optional<ArrayRef<int64_t>> dims) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (type.getShape() == shape)
    return operand;
  int64_t rank = shape.size(), missing = rank - type.getRank();
  SmallVector<int64_t> into;
  for (int64_t i = 0; i < type.getRank(); ++i)
    into.push_back(dims && missing > 0 ? (*dims)[i] : missing + i);
  return stablehlo::BroadcastInDimOp::create(b, loc, type.clone(shape), operand, into);
}

template <typename To, typename From> Value broadcastBinary(From op) {
  OpBuilder b(op);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  Value lhs = broadcastTo(b, op.getLoc(), op.getLhs(), shape, op.getBroadcastDimensions());
  Value rhs = broadcastTo(b, op.getLoc(), op.getRhs(), shape, op.getBroadcastDimensions());
  return To::create(b, op.getLoc(), lhs, rhs).getResult();
}

// By the chlo operation without broadcasting, which goes in turn.
FailureOr<Value> decompose(Operation *op);
template <typename Via, typename From> FailureOr<Value> broadcastVia(From op) {
  Operation *via = broadcastBinary<Via>(op).getDefiningOp();
  FailureOr<Value> value = decompose(via);
  if (succeeded(value))
    via->erase();
  return value;
}

Value compareWithInfinity(Operation *op, bool magnitude, double sign) {
  OpBuilder b(op);
  Expr x(b, op->getLoc(), op->getOperand(0));
  if (magnitude)
    x = x.abs();
  return (x == sign * std::numeric_limits<double>::infinity()).get();
}

// The high half of the product: through integers of twice the width, or by halves.
FailureOr<Value> highProduct(chlo::MulhiOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto element = cast<IntegerType>(type.getElementType());
  unsigned width = element.getWidth();
  auto constant = [&](RankedTensorType type, const APInt &value) {
    return Expr(
        b, loc,
        stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value)).getResult());
  };
  if (width <= 32) {
    auto wide = type.clone(IntegerType::get(op.getContext(), 2 * width, element.getSignedness()));
    auto widened = [&](Value value) {
      return Expr(b, loc, stablehlo::ConvertOp::create(b, loc, wide, value).getResult());
    };
    Expr product = widened(op.getLhs()) * widened(op.getRhs());
    Expr shift = constant(wide, APInt(2 * width, width));
    Expr high = element.isUnsigned() ? product.apply<stablehlo::ShiftRightLogicalOp>(shift)
                                     : product.apply<stablehlo::ShiftRightArithmeticOp>(shift);
    return stablehlo::ConvertOp::create(b, loc, type, high.get()).getResult();
  }
  // x = x1 2^32 + x0 with x0 >= 0, and x1 of x's sign: no sum below overflows.
  Expr shift = constant(type, APInt(width, 32)), low = constant(type, APInt(width, 0xffffffff));
  auto upper = [&](Expr x) {
    return element.isUnsigned() ? x.apply<stablehlo::ShiftRightLogicalOp>(shift)
                                : x.apply<stablehlo::ShiftRightArithmeticOp>(shift);
  };
  auto lower = [&](Expr x) { return x.apply<stablehlo::AndOp>(low); };
  Expr x(b, loc, op.getLhs()), y(b, loc, op.getRhs());
  Expr x0 = lower(x), x1 = upper(x), y0 = lower(y), y1 = upper(y);
  Expr middle = x1 * y0 + (x0 * y0).apply<stablehlo::ShiftRightLogicalOp>(shift);
  Expr other = x0 * y1 + lower(middle);
  return (x1 * y1 + upper(middle) + upper(other)).get();
}

FailureOr<Value> constantLike(chlo::ConstantLikeOp op) {
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  DenseElementsAttr value;
  if (auto number = dyn_cast<complex::NumberAttr>(op.getValue()))
    value = DenseElementsAttr::get(type, std::complex(number.getReal(), number.getImag()));
  else if (isa<IntegerAttr, FloatAttr>(op.getValue()))
    value = DenseElementsAttr::get(type, Attribute(op.getValue()));
  else
    return op.emitError("has a value that is no number"), failure();
  return stablehlo::ConstantOp::create(b, op.getLoc(), value).getResult();
}

Value conjugate(chlo::ConjOp op) {
  OpBuilder b(op);
  if (!isa<ComplexType>(op.getOperand().getType().getElementType()))
    return op.getOperand();
  Value real = stablehlo::RealOp::create(b, op.getLoc(), op.getOperand());
  Value imag = stablehlo::ImagOp::create(b, op.getLoc(), op.getOperand());
  return stablehlo::ComplexOp::create(b, op.getLoc(), real,
                                      stablehlo::NegOp::create(b, op.getLoc(), imag));
}

Value compareBroadcast(chlo::BroadcastCompareOp op) {
  OpBuilder b(op);
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  Value lhs = broadcastTo(b, op.getLoc(), op.getLhs(), shape, op.getBroadcastDimensions());
  Value rhs = broadcastTo(b, op.getLoc(), op.getRhs(), shape, op.getBroadcastDimensions());
  auto type = static_cast<stablehlo::ComparisonType>(
      op.getCompareType().value_or(chlo::ComparisonType::NOTYPE));
  return stablehlo::CompareOp::create(
      b, op.getLoc(), lhs, rhs,
      static_cast<stablehlo::ComparisonDirection>(op.getComparisonDirection()), type);
}

Value selectBroadcast(chlo::BroadcastSelectOp op) {
  OpBuilder b(op);
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  Value pred = op.getPred();
  if (cast<RankedTensorType>(pred.getType()).getRank() != 0)
    pred = broadcastTo(b, op.getLoc(), pred, shape, std::nullopt);
  return stablehlo::SelectOp::create(
      b, op.getLoc(), pred, broadcastTo(b, op.getLoc(), op.getOnTrue(), shape, std::nullopt),
      broadcastTo(b, op.getLoc(), op.getOnFalse(), shape, std::nullopt));
}

// What replaces an operation that broadcasts its operands.
FailureOr<Value> decomposeBroadcasting(Operation *op) {
  return TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](chlo::BroadcastAddOp op) { return broadcastBinary<stablehlo::AddOp>(op); })
      .Case([&](chlo::BroadcastAndOp op) { return broadcastBinary<stablehlo::AndOp>(op); })
      .Case([&](chlo::BroadcastAtan2Op op) { return broadcastBinary<stablehlo::Atan2Op>(op); })
      .Case([&](chlo::BroadcastComplexOp op) { return broadcastBinary<stablehlo::ComplexOp>(op); })
      .Case([&](chlo::BroadcastDivOp op) { return broadcastBinary<stablehlo::DivOp>(op); })
      .Case([&](chlo::BroadcastMaxOp op) { return broadcastBinary<stablehlo::MaxOp>(op); })
      .Case([&](chlo::BroadcastMinOp op) { return broadcastBinary<stablehlo::MinOp>(op); })
      .Case([&](chlo::BroadcastMulOp op) { return broadcastBinary<stablehlo::MulOp>(op); })
      .Case([&](chlo::BroadcastOrOp op) { return broadcastBinary<stablehlo::OrOp>(op); })
      .Case([&](chlo::BroadcastPowOp op) { return broadcastBinary<stablehlo::PowOp>(op); })
      .Case([&](chlo::BroadcastRemOp op) { return broadcastBinary<stablehlo::RemOp>(op); })
      .Case([&](chlo::BroadcastShiftLeftOp op) {
        return broadcastBinary<stablehlo::ShiftLeftOp>(op);
      })
      .Case([&](chlo::BroadcastShiftRightArithmeticOp op) {
        return broadcastBinary<stablehlo::ShiftRightArithmeticOp>(op);
      })
      .Case([&](chlo::BroadcastShiftRightLogicalOp op) {
        return broadcastBinary<stablehlo::ShiftRightLogicalOp>(op);
      })
      .Case([&](chlo::BroadcastSubOp op) { return broadcastBinary<stablehlo::SubtractOp>(op); })
      .Case([&](chlo::BroadcastXorOp op) { return broadcastBinary<stablehlo::XorOp>(op); })
      .Case([&](chlo::BroadcastNextAfterOp op) { return broadcastVia<chlo::NextAfterOp>(op); })
      .Case([&](chlo::BroadcastPolygammaOp op) { return broadcastVia<chlo::PolygammaOp>(op); })
      .Case([&](chlo::BroadcastZetaOp op) { return broadcastVia<chlo::ZetaOp>(op); })
      .Case([&](chlo::BroadcastCompareOp op) { return compareBroadcast(op); })
      .Case([&](chlo::BroadcastSelectOp op) { return selectBroadcast(op); })
      .Default([&](Operation *op) {
        op->emitError("has no decomposition into StableHLO yet; write it in StableHLO operations");
        return FailureOr<Value>(failure());
      });
}

// What replaces an operation with one result.
FailureOr<Value> decompose(Operation *op) {
  OpBuilder b(op);
  return TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](chlo::SquareOp op) {
        return stablehlo::MulOp::create(b, op.getLoc(), op.getOperand(), op.getOperand())
            .getResult();
      })
      .Case([&](chlo::ConjOp op) { return conjugate(op); })
      .Case([&](chlo::ConstantOp op) {
        return stablehlo::ConstantOp::create(b, op.getLoc(), op.getValue()).getResult();
      })
      .Case([&](chlo::ConstantLikeOp op) { return constantLike(op); })
      .Case([&](chlo::ErfInvOp op) { return inFloat(op, import::erfInv); })
      .Case([&](chlo::LgammaOp op) { return inFloat(op, import::lgamma, /*inDouble=*/true); })
      .Case([&](chlo::DigammaOp op) { return inFloat(op, import::digamma, /*inDouble=*/true); })
      .Case([&](chlo::ZetaOp op) { return inFloat(op, import::zeta, /*inDouble=*/true); })
      .Case([&](chlo::PolygammaOp op) { return inFloat(op, import::polygamma, /*inDouble=*/true); })
      .Case([&](chlo::BesselI1eOp op) { return inFloat(op, import::besselI1e, /*inDouble=*/true); })
      .Case([&](chlo::SinhOp op) {
        return realOrComplex(op, import::sinh, import::ComplexFunction::Sinh);
      })
      .Case([&](chlo::CoshOp op) {
        return realOrComplex(op, import::cosh, import::ComplexFunction::Cosh);
      })
      .Case([&](chlo::TanOp op) {
        return realOrComplex(op, import::tan, import::ComplexFunction::Tan);
      })
      .Case([&](chlo::AsinOp op) {
        return realOrComplex(op, import::asin, import::ComplexFunction::Asin);
      })
      .Case([&](chlo::AsinAcosKernelOp op) -> FailureOr<Value> {
        return import::complexFunction(b, op.getLoc(), op.getOperand(),
                                       import::ComplexFunction::AsinAcosKernel);
      })
      .Case([&](chlo::AcosOp op) {
        return realOrComplex(op, import::acos, import::ComplexFunction::Acos);
      })
      .Case([&](chlo::AtanOp op) {
        return realOrComplex(op, import::atan, import::ComplexFunction::Atan);
      })
      .Case([&](chlo::AsinhOp op) {
        return realOrComplex(op, import::asinh, import::ComplexFunction::Asinh);
      })
      .Case([&](chlo::AcoshOp op) {
        return realOrComplex(op, import::acosh, import::ComplexFunction::Acosh);
      })
      .Case([&](chlo::AtanhOp op) {
        return realOrComplex(op, import::atanh, import::ComplexFunction::Atanh);
      })
      .Case([&](chlo::NextAfterOp op) {
        Expr x(b, op.getLoc(), op.getX()), y(b, op.getLoc(), op.getY());
        return FailureOr<Value>(import::nextAfter(x, y).get());
      })
      .Case([&](chlo::IsInfOp op) { return compareWithInfinity(op, true, 1); })
      .Case([&](chlo::IsPosInfOp op) { return compareWithInfinity(op, false, 1); })
      .Case([&](chlo::IsNegInfOp op) { return compareWithInfinity(op, false, -1); })
      .Case([&](chlo::MulhiOp op) { return highProduct(op); })
      .Default([](Operation *op) { return decomposeBroadcasting(op); });
}

struct DecomposeChloPass : impl::DecomposeChloBase<DecomposeChloPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    Dialect *chlo = getContext().getLoadedDialect<chlo::ChloDialect>();
    getOperation().walk([&](Operation *op) {
      if (chlo && op->getDialect() == chlo && !op->hasTrait<chlo::IsKernelFunction>())
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto topK = dyn_cast<chlo::TopKOp>(op)) {
        if (failed(import::decomposeTopK(topK)))
          return signalPassFailure();
        continue;
      }
      FailureOr<Value> value = decompose(op);
      if (failed(value))
        return signalPassFailure();
      sdy::keepSharding(op->getResults(), *value);
      op->getResult(0).replaceAllUsesWith(*value);
      op->erase();
    }
  }
};

} // namespace
} // namespace tessera
