// Conversions of constants, and conversions of conversions.
#include "dialects/stablehlo/ConstantElements.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::stablehlo {

static constexpr auto rounding = APFloat::rmNearestTiesToEven;

//===--------------------------------- Convert --------------------------------===//

static std::optional<APInt> toInt(const APFloat &x, IntegerType type) {
  if (type.isInteger(1))
    return APInt(1, !x.isZero());
  APSInt value(type.getWidth(), isUnsigned(type));
  bool exact;
  if (x.convertToInteger(value, APFloat::rmTowardZero, &exact) == APFloat::opInvalidOp)
    return std::nullopt;
  return value;
}

static std::optional<APInt> toInt(const APInt &x, bool fromUnsigned, IntegerType type) {
  if (type.isInteger(1))
    return APInt(1, !x.isZero());
  return fromUnsigned ? x.zextOrTrunc(type.getWidth()) : x.sextOrTrunc(type.getWidth());
}

OpFoldResult ConvertOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (getOperand().getType() == getType())
    return getOperand();
  SmallVector<DenseElementsAttr> operands;
  auto type = getType();
  // The type has no zero. Its smallest number is one to kernels, which compute in f32.
  if (isa<Float8E8M0FNUType>(getOperand().getType().getElementType()) && type.hasStaticShape() &&
      type.getElementType().isInteger(1))
    return DenseElementsAttr::get(type, true);
  if (!type.hasStaticShape() || failed(constantsOf(a.getOperands(), operands)))
    return {};
  Type from = getOperand().getType().getElementType(), to = type.getElementType();
  auto toFloat = [&](APFloat value) {
    bool lossy;
    value.convert(cast<FloatType>(to).getFloatSemantics(), rounding, &lossy);
    return std::optional(value);
  };
  if (isa<IntegerType>(from) && isa<IntegerType>(to))
    return mapElements<APInt, APInt>(operands, type, [&](auto at) {
      return toInt(at(0), isUnsigned(from), cast<IntegerType>(to));
    });
  if (isa<FloatType>(from) && isa<IntegerType>(to))
    return mapElements<APFloat, APInt>(
        operands, type, [&](auto at) { return toInt(at(0), cast<IntegerType>(to)); });
  if (isa<FloatType>(from) && isRoundedTo(to))
    return mapElements<APFloat, APFloat>(operands, type, [&](auto at) { return toFloat(at(0)); });
  if (isa<IntegerType>(from) && isRoundedTo(to))
    return mapElements<APInt, APFloat>(operands, type, [&](auto at) {
      APFloat value(cast<FloatType>(to).getFloatSemantics());
      value.convertFromAPInt(at(0), !isUnsigned(from), rounding);
      return std::optional(value);
    });
  return {};
}

namespace {

// Whether every value of `from` is a value of `to`.
bool isExact(Type from, Type to) {
  if (auto f = dyn_cast<FloatType>(from)) {
    auto t = dyn_cast<FloatType>(to);
    return t && APFloat::isRepresentableBy(f.getFloatSemantics(), t.getFloatSemantics());
  }
  auto f = dyn_cast<IntegerType>(from), t = dyn_cast<IntegerType>(to);
  if (!f || !t || t.isInteger(1))
    return false;
  return isUnsigned(f) == isUnsigned(t) ? f.getWidth() <= t.getWidth()
                                        : isUnsigned(f) && f.getWidth() < t.getWidth();
}

// Through a type that holds all values, or from an integer to one of the same width and back.
struct ConvertOfConvert : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ConvertOp>();
    if (!inner || isAnnotated(op) || isAnnotated(inner))
      return failure();
    Type from = inner.getOperand().getType().getElementType(),
         through = inner.getType().getElementType();
    Type to = op.getType().getElementType();
    bool roundTrip = from == to && from.isInteger() && through.isInteger() && !from.isInteger(1) &&
                     from.getIntOrFloatBitWidth() == through.getIntOrFloatBitWidth();
    if (!roundTrip && !isExact(from, through))
      return failure();
    if (inner.getOperand().getType() == op.getType())
      rewriter.replaceOp(op, inner.getOperand());
    else
      rewriter.replaceOpWithNewOp<ConvertOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

} // namespace

void ConvertOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConvertOfConvert>(context);
  addChoicePatterns(patterns);
}

} // namespace tessera::stablehlo
