// Elementwise operations on constants and on neutral elements. Constants of one value, or of a few, are folded.
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::stablehlo {

// Larger constants are data: folding them would grow the program.
static constexpr int64_t maxFoldedElements = 64;

static bool isUnsigned(Type element) { return element.isUnsignedInteger() || element.isInteger(1); }

//===--------------------------- Constants elementwise ------------------------===//

// f on integers, one result for each index; `f` returns nothing where the operation is undefined.
template <typename In, typename Out, typename F>
static DenseElementsAttr mapElements(ArrayRef<DenseElementsAttr> operands, ShapedType type, F f) {
  SmallVector<Out> values;
  auto at = [&](size_t operand, int64_t i) {
    DenseElementsAttr e = operands[operand];
    return e.isSplat() ? e.getSplatValue<In>() : e.getValues<In>()[i];
  };
  bool splat = llvm::all_of(operands, [](DenseElementsAttr e) { return e.isSplat(); });
  if (!splat && type.getNumElements() > maxFoldedElements)
    return {};
  for (int64_t i = 0, n = splat ? 1 : type.getNumElements(); i < n; ++i) {
    std::optional<Out> value = f([&](size_t operand) { return at(operand, i); });
    if (!value)
      return {};
    values.push_back(*value);
  }
  return values.empty() ? DenseElementsAttr() : DenseElementsAttr::get(type, values);
}

static bool denseOperands(ArrayRef<Attribute> attrs, SmallVectorImpl<DenseElementsAttr> &dense) {
  for (Attribute attr : attrs) {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(attr);
    if (!elements || elements.getNumElements() == 0)
      return false;
    dense.push_back(elements);
  }
  return true;
}

using IntFold = llvm::function_ref<std::optional<APInt>(const APInt &, const APInt &, bool isUnsigned)>;
using FloatFold = llvm::function_ref<std::optional<APFloat>(APFloat, const APFloat &)>;

static OpFoldResult foldBinary(ArrayRef<Attribute> attrs, Type resultType, IntFold onInts, FloatFold onFloats = {}) {
  SmallVector<DenseElementsAttr> operands;
  auto type = cast<ShapedType>(resultType);
  if (!type.hasStaticShape() || !denseOperands(attrs, operands))
    return {};
  Type element = type.getElementType();
  if (isa<IntegerType>(element) && onInts)
    return mapElements<APInt, APInt>(operands, type, [&](auto at) { return onInts(at(0), at(1), isUnsigned(element)); });
  if (isa<FloatType>(element) && onFloats)
    return mapElements<APFloat, APFloat>(operands, type, [&](auto at) { return onFloats(at(0), at(1)); });
  return {};
}

static bool isInt(Attribute attr, int64_t value) {
  auto e = dyn_cast_or_null<DenseIntElementsAttr>(attr);
  if (!e || !e.isSplat())
    return false;
  APInt v = e.getSplatValue<APInt>();
  return value < 0 ? v.isAllOnes() : v == uint64_t(value);
}

static bool isFloat(Attribute attr, double value) {
  auto e = dyn_cast_or_null<DenseFPElementsAttr>(attr);
  if (!e || !e.isSplat())
    return false;
  APFloat v = e.getSplatValue<APFloat>();
  return v.isExactlyValue(value) && v.isNegative() == std::signbit(value);
}

static constexpr auto rounding = APFloat::rmNearestTiesToEven;

//===--------------------------------- Binary ---------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor a) {
  if (isInt(a.getRhs(), 0) || isFloat(a.getRhs(), -0.0))
    return getLhs();
  return foldBinary(
      a.getOperands(), getType(), [](const APInt &x, const APInt &y, bool) { return std::optional(x + y); },
      [](APFloat x, const APFloat &y) { return x.add(y, rounding), std::optional(x); });
}

OpFoldResult SubtractOp::fold(FoldAdaptor a) {
  if (isInt(a.getRhs(), 0) || isFloat(a.getRhs(), 0.0))
    return getLhs();
  return foldBinary(
      a.getOperands(), getType(), [](const APInt &x, const APInt &y, bool) { return std::optional(x - y); },
      [](APFloat x, const APFloat &y) { return x.subtract(y, rounding), std::optional(x); });
}

OpFoldResult MulOp::fold(FoldAdaptor a) {
  if (isInt(a.getRhs(), 1) || isFloat(a.getRhs(), 1.0))
    return getLhs();
  if (isInt(a.getRhs(), 0))
    return a.getRhs();
  return foldBinary(
      a.getOperands(), getType(), [](const APInt &x, const APInt &y, bool) { return std::optional(x * y); },
      [](APFloat x, const APFloat &y) { return x.multiply(y, rounding), std::optional(x); });
}

OpFoldResult DivOp::fold(FoldAdaptor a) {
  if (isInt(a.getRhs(), 1) || isFloat(a.getRhs(), 1.0))
    return getLhs();
  return foldBinary(
      a.getOperands(), getType(),
      [](const APInt &x, const APInt &y, bool isUnsigned) -> std::optional<APInt> {
        if (y.isZero() || (!isUnsigned && y.isAllOnes()))
          return std::nullopt;
        return isUnsigned ? x.udiv(y) : x.sdiv(y);
      },
      [](APFloat x, const APFloat &y) { return x.divide(y, rounding), std::optional(x); });
}

OpFoldResult RemOp::fold(FoldAdaptor a) {
  return foldBinary(a.getOperands(), getType(),
                    [](const APInt &x, const APInt &y, bool isUnsigned) -> std::optional<APInt> {
                      if (y.isZero() || (!isUnsigned && y.isAllOnes()))
                        return std::nullopt;
                      return isUnsigned ? x.urem(y) : x.srem(y);
                    });
}

OpFoldResult MaxOp::fold(FoldAdaptor a) {
  if (getLhs() == getRhs())
    return getLhs();
  return foldBinary(
      a.getOperands(), getType(),
      [](const APInt &x, const APInt &y, bool isUnsigned) {
        return std::optional((isUnsigned ? x.ugt(y) : x.sgt(y)) ? x : y);
      },
      [](APFloat x, const APFloat &y) { return std::optional(llvm::maximum(x, y)); });
}

OpFoldResult MinOp::fold(FoldAdaptor a) {
  if (getLhs() == getRhs())
    return getLhs();
  return foldBinary(
      a.getOperands(), getType(),
      [](const APInt &x, const APInt &y, bool isUnsigned) {
        return std::optional((isUnsigned ? x.ult(y) : x.slt(y)) ? x : y);
      },
      [](APFloat x, const APFloat &y) { return std::optional(llvm::minimum(x, y)); });
}

OpFoldResult AndOp::fold(FoldAdaptor a) {
  if (getLhs() == getRhs() || isInt(a.getRhs(), -1))
    return getLhs();
  if (isInt(a.getRhs(), 0))
    return a.getRhs();
  return foldBinary(a.getOperands(), getType(), [](const APInt &x, const APInt &y, bool) { return std::optional(x & y); });
}

OpFoldResult OrOp::fold(FoldAdaptor a) {
  if (getLhs() == getRhs() || isInt(a.getRhs(), 0))
    return getLhs();
  if (isInt(a.getRhs(), -1))
    return a.getRhs();
  return foldBinary(a.getOperands(), getType(), [](const APInt &x, const APInt &y, bool) { return std::optional(x | y); });
}

OpFoldResult XorOp::fold(FoldAdaptor a) {
  if (isInt(a.getRhs(), 0))
    return getLhs();
  return foldBinary(a.getOperands(), getType(), [](const APInt &x, const APInt &y, bool) { return std::optional(x ^ y); });
}

// A shift by the width or more leaves zeros, or copies of the sign.
template <typename Shift> static auto shiftBy(Shift shift, bool arithmetic) {
  return [=](const APInt &x, const APInt &y, bool) -> std::optional<APInt> {
    if (y.ult(x.getBitWidth()))
      return shift(x, y);
    return arithmetic && x.isNegative() ? APInt::getAllOnes(x.getBitWidth()) : APInt::getZero(x.getBitWidth());
  };
}

OpFoldResult ShiftLeftOp::fold(FoldAdaptor a) {
  if (isInt(a.getRhs(), 0))
    return getLhs();
  return foldBinary(a.getOperands(), getType(), shiftBy([](const APInt &x, const APInt &y) { return x.shl(y); }, false));
}
OpFoldResult ShiftRightLogicalOp::fold(FoldAdaptor a) {
  if (isInt(a.getRhs(), 0))
    return getLhs();
  return foldBinary(a.getOperands(), getType(), shiftBy([](const APInt &x, const APInt &y) { return x.lshr(y); }, false));
}
OpFoldResult ShiftRightArithmeticOp::fold(FoldAdaptor a) {
  if (isInt(a.getRhs(), 0))
    return getLhs();
  return foldBinary(a.getOperands(), getType(), shiftBy([](const APInt &x, const APInt &y) { return x.ashr(y); }, true));
}

//===------------------------------- Comparison -------------------------------===//

// Whether x stands in `direction` to y, when x is less than, equal to or greater than it.
static bool holds(ComparisonDirection direction, bool less, bool equal, bool greater) {
  switch (direction) {
  case ComparisonDirection::EQ: return equal;
  case ComparisonDirection::NE: return !equal;
  case ComparisonDirection::LT: return less;
  case ComparisonDirection::LE: return less || equal;
  case ComparisonDirection::GT: return greater;
  case ComparisonDirection::GE: return greater || equal;
  }
  return false;
}

OpFoldResult CompareOp::fold(FoldAdaptor a) {
  auto type = getType();
  Type element = getLhs().getType().getElementType();
  ComparisonDirection direction = getComparisonDirection();
  auto asBool = [](bool b) { return std::optional(APInt(1, b)); };
  if (getLhs() == getRhs() && isa<IntegerType>(element) && type.hasStaticShape())
    return DenseElementsAttr::get(type, holds(direction, false, true, false));
  SmallVector<DenseElementsAttr> operands;
  if (!type.hasStaticShape() || !denseOperands(a.getOperands(), operands))
    return {};
  if (isa<IntegerType>(element)) {
    bool noSign = isUnsigned(element);
    return mapElements<APInt, APInt>(operands, type, [&](auto at) {
      APInt x = at(0), y = at(1);
      bool less = noSign ? x.ult(y) : x.slt(y);
      return asBool(holds(direction, less, x == y, !less && x != y));
    });
  }
  if (isa<FloatType>(element) && getCompareType().value_or(ComparisonType::FLOAT) == ComparisonType::FLOAT)
    return mapElements<APFloat, APInt>(operands, type, [&](auto at) {
      APFloat::cmpResult r = at(0).compare(at(1));
      return asBool(holds(direction, r == APFloat::cmpLessThan, r == APFloat::cmpEqual, r == APFloat::cmpGreaterThan));
    });
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor a) {
  if (getOnTrue() == getOnFalse() && getOnTrue().getType() == getType())
    return getOnTrue();
  auto pred = dyn_cast_or_null<DenseElementsAttr>(a.getPred());
  if (pred && pred.isSplat()) {
    Value chosen = pred.getSplatValue<bool>() ? getOnTrue() : getOnFalse();
    return chosen.getType() == getType() ? chosen : OpFoldResult();
  }
  return {};
}

OpFoldResult ClampOp::fold(FoldAdaptor a) {
  SmallVector<DenseElementsAttr> operands;
  auto type = getType();
  if (!isa<IntegerType>(type.getElementType()) || !type.hasStaticShape() || !denseOperands(a.getOperands(), operands))
    return {};
  bool noSign = isUnsigned(type.getElementType());
  return mapElements<APInt, APInt>(operands, type, [&](auto at) {
    auto less = [&](const APInt &x, const APInt &y) { return noSign ? x.ult(y) : x.slt(y); };
    APInt low = at(0), x = at(1), high = at(2);
    APInt raised = less(x, low) ? low : x;
    return std::optional(less(high, raised) ? high : raised);
  });
}

//===---------------------------------- Unary ---------------------------------===//

OpFoldResult NegOp::fold(FoldAdaptor a) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return inner.getOperand();
  return foldBinary(
      {a.getOperand(), a.getOperand()}, getType(), [](const APInt &x, const APInt &, bool) { return std::optional(-x); },
      [](APFloat x, const APFloat &) { return x.changeSign(), std::optional(x); });
}

OpFoldResult NotOp::fold(FoldAdaptor a) {
  if (auto inner = getOperand().getDefiningOp<NotOp>())
    return inner.getOperand();
  return foldBinary({a.getOperand(), a.getOperand()}, getType(),
                    [](const APInt &x, const APInt &, bool) { return std::optional(~x); });
}

OpFoldResult RealOp::fold(FoldAdaptor) {
  if (auto complex = getOperand().getDefiningOp<ComplexOp>())
    return complex.getLhs();
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult ImagOp::fold(FoldAdaptor) {
  if (auto complex = getOperand().getDefiningOp<ComplexOp>())
    return complex.getRhs();
  return {};
}

OpFoldResult BitcastConvertOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<BitcastConvertOp>();
  return inner && inner.getOperand().getType() == getType() ? OpFoldResult(inner.getOperand()) : OpFoldResult();
}

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
  if (getOperand().getType() == getType())
    return getOperand();
  SmallVector<DenseElementsAttr> operands;
  auto type = getType();
  if (!type.hasStaticShape() || !denseOperands(a.getOperands(), operands))
    return {};
  Type from = getOperand().getType().getElementType(), to = type.getElementType();
  auto toFloat = [&](APFloat value) {
    bool lossy;
    value.convert(cast<FloatType>(to).getFloatSemantics(), rounding, &lossy);
    return std::optional(value);
  };
  if (isa<IntegerType>(from) && isa<IntegerType>(to))
    return mapElements<APInt, APInt>(operands, type,
                                     [&](auto at) { return toInt(at(0), isUnsigned(from), cast<IntegerType>(to)); });
  if (isa<FloatType>(from) && isa<IntegerType>(to))
    return mapElements<APFloat, APInt>(operands, type, [&](auto at) { return toInt(at(0), cast<IntegerType>(to)); });
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return mapElements<APFloat, APFloat>(operands, type, [&](auto at) { return toFloat(at(0)); });
  if (isa<IntegerType>(from) && isa<FloatType>(to))
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
  return isUnsigned(f) == isUnsigned(t) ? f.getWidth() <= t.getWidth() : isUnsigned(f) && f.getWidth() < t.getWidth();
}

// Through a type that holds all values, or from an integer to one of the same width and back.
struct ConvertOfConvert : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ConvertOp>();
    if (!inner)
      return failure();
    Type from = inner.getOperand().getType().getElementType(), through = inner.getType().getElementType();
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
}

} // namespace tessera::stablehlo
