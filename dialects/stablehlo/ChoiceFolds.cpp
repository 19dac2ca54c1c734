// Comparisons, and choices between two values, that are known.
#include "dialects/stablehlo/ConstantElements.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::stablehlo {

//===------------------------------- Comparison -------------------------------===//

// Whether x stands in `direction` to y, when x is less than, equal to or greater than it.
static bool holds(ComparisonDirection direction, bool less, bool equal, bool greater) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return equal;
  case ComparisonDirection::NE:
    return !equal;
  case ComparisonDirection::LT:
    return less;
  case ComparisonDirection::LE:
    return less || equal;
  case ComparisonDirection::GT:
    return greater;
  case ComparisonDirection::GE:
    return greater || equal;
  }
  return false;
}

OpFoldResult CompareOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  auto type = getType();
  Type element = getLhs().getType().getElementType();
  ComparisonDirection direction = getComparisonDirection();
  auto asBool = [](bool b) { return std::optional(APInt(1, b)); };
  if (getLhs() == getRhs() && isa<IntegerType>(element) && type.hasStaticShape())
    return DenseElementsAttr::get(type, holds(direction, false, true, false));
  SmallVector<DenseElementsAttr> operands;
  if (!type.hasStaticShape() || failed(constantsOf(a.getOperands(), operands)))
    return {};
  if (isa<IntegerType>(element)) {
    bool noSign = isUnsigned(element);
    return mapElements<APInt, APInt>(operands, type, [&](auto at) {
      APInt x = at(0), y = at(1);
      bool less = noSign ? x.ult(y) : x.slt(y);
      return asBool(holds(direction, less, x == y, !less && x != y));
    });
  }
  if (isa<FloatType>(element) &&
      getCompareType().value_or(ComparisonType::FLOAT) == ComparisonType::FLOAT)
    return mapElements<APFloat, APInt>(operands, type, [&](auto at) {
      APFloat::cmpResult r = at(0).compare(at(1));
      return asBool(holds(direction, r == APFloat::cmpLessThan, r == APFloat::cmpEqual,
                          r == APFloat::cmpGreaterThan));
    });
  return {};
}

// Few elements, each chosen from one of two constants.
static DenseElementsAttr choose(DenseElementsAttr pred, DenseElementsAttr a, DenseElementsAttr b,
                                RankedTensorType type) {
  if (type.getNumElements() > maxFoldedElements || a.getType() != type || b.getType() != type)
    return {};
  auto where = pred.getValues<bool>();
  auto left = a.getValues<Attribute>(), right = b.getValues<Attribute>();
  SmallVector<Attribute> values;
  for (int64_t i = 0, n = type.getNumElements(); i < n; ++i)
    values.push_back(where[pred.getNumElements() == 1 ? 0 : i] ? left[i] : right[i]);
  return DenseElementsAttr::get(type, values);
}

OpFoldResult SelectOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (getOnTrue() == getOnFalse() && getOnTrue().getType() == getType())
    return getOnTrue();
  auto pred = dyn_cast_or_null<DenseElementsAttr>(a.getPred());
  if (!pred || pred.empty())
    return {};
  if (pred.isSplat()) {
    Value chosen = pred.getSplatValue<bool>() ? getOnTrue() : getOnFalse();
    return chosen.getType() == getType() ? chosen : OpFoldResult();
  }
  SmallVector<DenseElementsAttr> values;
  if (failed(constantsOf({a.getOnTrue(), a.getOnFalse()}, values)) || !getType().hasStaticShape())
    return {};
  return choose(pred, values[0], values[1], getType());
}

OpFoldResult ClampOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  SmallVector<DenseElementsAttr> operands;
  auto type = getType();
  if (!isa<IntegerType>(type.getElementType()) || !type.hasStaticShape() ||
      failed(constantsOf(a.getOperands(), operands)))
    return {};
  bool noSign = isUnsigned(type.getElementType());
  return mapElements<APInt, APInt>(operands, type, [&](auto at) {
    auto less = [&](const APInt &x, const APInt &y) { return noSign ? x.ult(y) : x.slt(y); };
    APInt low = at(0), x = at(1), high = at(2);
    APInt raised = less(x, low) ? low : x;
    return std::optional(less(high, raised) ? high : raised);
  });
}

//===--------------------------------- Patterns -------------------------------===//

namespace {

bool isSplatOf(Value value, bool expected) {
  DenseIntElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getElementType().isInteger(1) && elements.getSplatValue<bool>() == expected;
}

//   select(p, true, false) -> p
//   select(p, false, true) -> not p
//   select(not p, a, b)    -> select(p, b, a)
struct SelectOfPredicate : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    if (isAnnotated(op))
      return failure();
    Value pred = op.getPred();
    bool whole = pred.getType() == op.getType();
    if (whole && isSplatOf(op.getOnTrue(), true) && isSplatOf(op.getOnFalse(), false)) {
      rewriter.replaceOp(op, pred);
      return success();
    }
    if (whole && isSplatOf(op.getOnTrue(), false) && isSplatOf(op.getOnFalse(), true)) {
      rewriter.replaceOpWithNewOp<NotOp>(op, pred);
      return success();
    }
    auto inverse = pred.getDefiningOp<NotOp>();
    if (!inverse || isAnnotated(inverse))
      return failure();
    rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), inverse.getOperand(), op.getOnFalse(),
                                          op.getOnTrue());
    return success();
  }
};

//   convert(p : i1) != 0 -> p,  p == true -> p,  p == false -> not p
struct CompareOfPredicate : OpRewritePattern<CompareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CompareOp op, PatternRewriter &rewriter) const override {
    bool equal = op.getComparisonDirection() == ComparisonDirection::EQ;
    if (isAnnotated(op) || (!equal && op.getComparisonDirection() != ComparisonDirection::NE))
      return failure();
    DenseElementsAttr constant;
    if (!matchPattern(op.getRhs(), m_Constant(&constant)) || !constant.isSplat())
      return failure();
    Value pred = op.getLhs();
    if (auto convert = pred.getDefiningOp<ConvertOp>(); convert && !isAnnotated(convert))
      pred = convert.getOperand();
    if (pred.getType() != op.getType())
      return failure();
    bool zero, one;
    if (isa<FloatType>(constant.getElementType())) {
      zero = constant.getSplatValue<APFloat>().isZero();
      one = constant.getSplatValue<APFloat>().isExactlyValue(1.0);
    } else if (isa<IntegerType>(constant.getElementType())) {
      zero = constant.getSplatValue<APInt>().isZero();
      one = constant.getSplatValue<APInt>().isOne();
    } else {
      return failure();
    }
    if (!zero && !one)
      return failure();
    if (one == equal)
      rewriter.replaceOp(op, pred);
    else
      rewriter.replaceOpWithNewOp<NotOp>(op, pred);
    return success();
  }
};

} // namespace

void addChoicePatterns(RewritePatternSet &patterns) {
  patterns.add<SelectOfPredicate, CompareOfPredicate>(patterns.getContext());
}

} // namespace tessera::stablehlo
