// Arithmetic on constants and on neutral elements. Constants of one value, or of a few, are folded.
#include "dialects/stablehlo/ConstantElements.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::stablehlo {

using IntFold =
    llvm::function_ref<std::optional<APInt>(const APInt &, const APInt &, bool isUnsigned)>;
using FloatFold = llvm::function_ref<std::optional<APFloat>(APFloat, const APFloat &)>;

static OpFoldResult foldBinary(ArrayRef<Attribute> attrs, Type resultType, IntFold onInts,
                               FloatFold onFloats = {}) {
  SmallVector<DenseElementsAttr> operands;
  auto type = cast<ShapedType>(resultType);
  if (!type.hasStaticShape() || failed(constantsOf(attrs, operands)))
    return {};
  Type element = type.getElementType();
  if (isa<IntegerType>(element) && onInts)
    return mapElements<APInt, APInt>(
        operands, type, [&](auto at) { return onInts(at(0), at(1), isUnsigned(element)); });
  if (isRoundedTo(element) && onFloats)
    return mapElements<APFloat, APFloat>(operands, type,
                                         [&](auto at) { return onFloats(at(0), at(1)); });
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

// The value, where it has the result's very type: sizes may be known of one and not of the other.
static OpFoldResult known(Operation *op, Value value) {
  return value.getType() == op->getResult(0).getType() ? OpFoldResult(value) : OpFoldResult();
}

static DenseElementsAttr zeros(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto element = dyn_cast<IntegerType>(tensor.getElementType());
  return element && tensor.hasStaticShape()
             ? DenseElementsAttr::get(tensor, APInt::getZero(element.getWidth()))
             : DenseElementsAttr();
}

// Whether no element is larger, or no element smaller, than the constant.
static bool isExtreme(Attribute attr, bool largest) {
  auto e = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!e || !e.isSplat())
    return false;
  if (isa<FloatType>(e.getElementType())) {
    APFloat v = e.getSplatValue<APFloat>();
    return v.isInfinity() && v.isNegative() != largest;
  }
  if (!isa<IntegerType>(e.getElementType()))
    return false;
  APInt v = e.getSplatValue<APInt>();
  if (isUnsigned(e.getElementType()))
    return largest ? v.isMaxValue() : v.isMinValue();
  return largest ? v.isMaxSignedValue() : v.isMinSignedValue();
}

static constexpr auto rounding = APFloat::rmNearestTiesToEven;

//===--------------------------------- Binary ---------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (isInt(a.getRhs(), 0) || isFloat(a.getRhs(), -0.0))
    return known(*this, getLhs());
  return foldBinary(
      a.getOperands(), getType(),
      [](const APInt &x, const APInt &y, bool) { // of booleans: or
        return std::optional(x.getBitWidth() == 1 ? x | y : x + y);
      },
      [](APFloat x, const APFloat &y) { return x.add(y, rounding), std::optional(x); });
}

OpFoldResult SubtractOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (isInt(a.getRhs(), 0) || isFloat(a.getRhs(), 0.0))
    return known(*this, getLhs());
  if (getLhs() == getRhs())
    if (DenseElementsAttr zero = zeros(getType()))
      return zero;
  return foldBinary(
      a.getOperands(), getType(),
      [](const APInt &x, const APInt &y, bool) { return std::optional(x - y); },
      [](APFloat x, const APFloat &y) { return x.subtract(y, rounding), std::optional(x); });
}

OpFoldResult MulOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (isInt(a.getRhs(), 1) || isFloat(a.getRhs(), 1.0))
    return known(*this, getLhs());
  if (isInt(a.getRhs(), 0))
    return known(*this, getRhs());
  return foldBinary(
      a.getOperands(), getType(),
      [](const APInt &x, const APInt &y, bool) { return std::optional(x * y); },
      [](APFloat x, const APFloat &y) { return x.multiply(y, rounding), std::optional(x); });
}

OpFoldResult DivOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (isInt(a.getRhs(), 1) || isFloat(a.getRhs(), 1.0))
    return known(*this, getLhs());
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
  if (isAnnotated(*this))
    return {};
  return foldBinary(a.getOperands(), getType(),
                    [](const APInt &x, const APInt &y, bool isUnsigned) -> std::optional<APInt> {
                      if (y.isZero() || (!isUnsigned && y.isAllOnes()))
                        return std::nullopt;
                      return isUnsigned ? x.urem(y) : x.srem(y);
                    });
}

OpFoldResult MaxOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (getLhs() == getRhs() || isExtreme(a.getRhs(), /*largest=*/false))
    return known(*this, getLhs());
  return foldBinary(
      a.getOperands(), getType(),
      [](const APInt &x, const APInt &y, bool isUnsigned) {
        return std::optional((isUnsigned ? x.ugt(y) : x.sgt(y)) ? x : y);
      },
      [](APFloat x, const APFloat &y) { return std::optional(llvm::maximum(x, y)); });
}

OpFoldResult MinOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (getLhs() == getRhs() || isExtreme(a.getRhs(), /*largest=*/true))
    return known(*this, getLhs());
  return foldBinary(
      a.getOperands(), getType(),
      [](const APInt &x, const APInt &y, bool isUnsigned) {
        return std::optional((isUnsigned ? x.ult(y) : x.slt(y)) ? x : y);
      },
      [](APFloat x, const APFloat &y) { return std::optional(llvm::minimum(x, y)); });
}

OpFoldResult AndOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (getLhs() == getRhs() || isInt(a.getRhs(), -1))
    return known(*this, getLhs());
  if (isInt(a.getRhs(), 0))
    return known(*this, getRhs());
  return foldBinary(a.getOperands(), getType(),
                    [](const APInt &x, const APInt &y, bool) { return std::optional(x & y); });
}

OpFoldResult OrOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (getLhs() == getRhs() || isInt(a.getRhs(), 0))
    return known(*this, getLhs());
  if (isInt(a.getRhs(), -1))
    return known(*this, getRhs());
  return foldBinary(a.getOperands(), getType(),
                    [](const APInt &x, const APInt &y, bool) { return std::optional(x | y); });
}

OpFoldResult XorOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (isInt(a.getRhs(), 0))
    return known(*this, getLhs());
  if (getLhs() == getRhs())
    if (DenseElementsAttr zero = zeros(getType()))
      return zero;
  return foldBinary(a.getOperands(), getType(),
                    [](const APInt &x, const APInt &y, bool) { return std::optional(x ^ y); });
}

// A shift by the width or more leaves zeros, or copies of the sign.
template <typename Shift> static auto shiftBy(Shift shift, bool arithmetic) {
  return [=](const APInt &x, const APInt &y, bool) -> std::optional<APInt> {
    if (y.ult(x.getBitWidth()))
      return shift(x, y);
    return arithmetic && x.isNegative() ? APInt::getAllOnes(x.getBitWidth())
                                        : APInt::getZero(x.getBitWidth());
  };
}

OpFoldResult ShiftLeftOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (isInt(a.getRhs(), 0))
    return known(*this, getLhs());
  return foldBinary(a.getOperands(), getType(),
                    shiftBy([](const APInt &x, const APInt &y) { return x.shl(y); }, false));
}
OpFoldResult ShiftRightLogicalOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (isInt(a.getRhs(), 0))
    return known(*this, getLhs());
  return foldBinary(a.getOperands(), getType(),
                    shiftBy([](const APInt &x, const APInt &y) { return x.lshr(y); }, false));
}
OpFoldResult ShiftRightArithmeticOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (isInt(a.getRhs(), 0))
    return known(*this, getLhs());
  return foldBinary(a.getOperands(), getType(),
                    shiftBy([](const APInt &x, const APInt &y) { return x.ashr(y); }, true));
}

//===---------------------------------- Unary ---------------------------------===//

OpFoldResult NegOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return known(*this, inner.getOperand());
  return foldBinary(
      {a.getOperand(), a.getOperand()}, getType(),
      [](const APInt &x, const APInt &, bool) { return std::optional(-x); },
      [](APFloat x, const APFloat &) { return x.changeSign(), std::optional(x); });
}

OpFoldResult foldAbs(AbsOp op, Attribute operand) {
  if (auto inner = op.getOperand().getDefiningOp<AbsOp>())
    return known(op, inner.getResult());
  if (isa<ComplexType>(op.getOperand().getType().getElementType()))
    return {};
  return foldBinary(
      {operand, operand}, op.getType(),
      [](const APInt &x, const APInt &, bool) { return std::optional(x.abs()); },
      [](APFloat x, const APFloat &) { return x.clearSign(), std::optional(x); });
}

OpFoldResult foldSign(SignOp op, Attribute operand) {
  return foldBinary({operand, operand}, op.getType(), [](const APInt &x, const APInt &, bool) {
    int64_t sign = x.isZero() ? 0 : x.isNegative() ? -1 : 1;
    return std::optional(APInt(x.getBitWidth(), sign, /*isSigned=*/true));
  });
}

OpFoldResult NotOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (auto inner = getOperand().getDefiningOp<NotOp>())
    return known(*this, inner.getOperand());
  return foldBinary({a.getOperand(), a.getOperand()}, getType(),
                    [](const APInt &x, const APInt &, bool) { return std::optional(~x); });
}

OpFoldResult RealOp::fold(FoldAdaptor) {
  if (isAnnotated(*this))
    return {};
  if (auto complex = getOperand().getDefiningOp<ComplexOp>())
    return known(*this, complex.getLhs());
  return known(*this, getOperand());
}

OpFoldResult ImagOp::fold(FoldAdaptor) {
  if (isAnnotated(*this))
    return {};
  if (auto complex = getOperand().getDefiningOp<ComplexOp>())
    return known(*this, complex.getRhs());
  return {};
}

OpFoldResult BitcastConvertOp::fold(FoldAdaptor) {
  if (isAnnotated(*this))
    return {};
  if (getOperand().getType() == getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<BitcastConvertOp>();
  return inner && inner.getOperand().getType() == getType() ? OpFoldResult(inner.getOperand())
                                                            : OpFoldResult();
}

} // namespace tessera::stablehlo
