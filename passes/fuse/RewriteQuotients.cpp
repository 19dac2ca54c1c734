// Quotients become products where one division does for many elements, or none is needed:
//
//   x / 192                    ->  x * (1 / 192)
//   x / broadcast(s)           ->  x * broadcast(1 / s)
//   x / sqrt(y)                ->  x * rsqrt(y)      likewise rsqrt, power and exponential
//   x / (y / z), (x / y) / z   ->  (x * z) / y, x / (y * z)
//
// A product of a rounded reciprocal is off by an ulp where the quotient was exact, and cheaper.
// Above all, XLA does the same: where rounding is amplified (Adam's first step), results agree only
// if both round alike. See docs/rationale/tolerances.md. Quotients that the import phase marks as
// exact, those of quantizing, stay.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <cmath>

namespace tessera {
#define GEN_PASS_DEF_REWRITEQUOTIENTS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;

// The number that every element of a constant is, through a broadcast.
static std::optional<float> splatOf(Value value) {
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToFloat();
}

namespace {

class Quotient {
public:
  explicit Quotient(stablehlo::DivOp op) : b(op), op(op), x(op.getLhs()), y(op.getRhs()) {}

  // What it is as a product, or null.
  Value rewritten() {
    if (type().getElementType().isBF16())
      return byBroadcast();
    if (std::optional<float> divisor = splatOf(y)) {
      float reciprocal = 1 / *divisor;
      if (std::isnormal(*divisor) && std::isnormal(reciprocal))
        return times(x, constant(reciprocal, type()));
      return {};
    }
    if (Value product = byRoot())
      return product;
    if (auto inner = onlyUse<stablehlo::DivOp>(y))
      return over(times(x, inner.getRhs()), inner.getLhs());
    if (auto inner = onlyUse<stablehlo::DivOp>(x))
      return over(inner.getLhs(), times(inner.getRhs(), y));
    return byBroadcast();
  }

private:
  RankedTensorType type() { return cast<RankedTensorType>(op.getType()); }
  Value constant(float value, RankedTensorType type) {
    return stablehlo::ConstantOp::create(b, op.getLoc(),
                                         DenseElementsAttr::get(type, ArrayRef<float>(value)));
  }
  Value times(Value left, Value right) {
    if (splatOf(left) == 1.0f)
      return right;
    return stablehlo::MulOp::create(b, op.getLoc(), left, right);
  }
  Value over(Value left, Value right) {
    return stablehlo::DivOp::create(b, op.getLoc(), left, right);
  }
  template <typename Op> Op onlyUse(Value value) {
    return value.hasOneUse() ? value.getDefiningOp<Op>() : Op();
  }

  Value byRoot() {
    Location loc = op.getLoc();
    if (auto root = onlyUse<stablehlo::SqrtOp>(y))
      return times(x, stablehlo::RsqrtOp::create(b, loc, root.getOperand()));
    if (auto root = onlyUse<stablehlo::RsqrtOp>(y))
      return times(x, stablehlo::SqrtOp::create(b, loc, root.getOperand()));
    if (auto power = onlyUse<stablehlo::PowOp>(y)) {
      Value exponent = stablehlo::NegOp::create(b, loc, power.getRhs());
      return times(x, stablehlo::PowOp::create(b, loc, power.getLhs(), exponent));
    }
    if (auto exponential = onlyUse<stablehlo::ExpOp>(y)) {
      Value exponent = stablehlo::NegOp::create(b, loc, exponential.getOperand());
      return times(x, stablehlo::ExpOp::create(b, loc, exponent));
    }
    return {};
  }

  bool isPartitioned() {
    auto devices =
        op->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
    return devices && devices.getInt() > 1;
  }

  // One division for all elements of a broadcast, in f32 also where they are bf16. One that is
  // broadcast to several shapes would be computed in the kernel of each. A product's quotient XLA
  // leaves alone in a program for several devices.
  Value byBroadcast() {
    auto broadcast = y.getDefiningOp<stablehlo::BroadcastInDimOp>();
    if (!broadcast)
      return {};
    Value divisor = broadcast.getOperand();
    auto small = cast<RankedTensorType>(divisor.getType());
    bool isAlone = llvm::all_of(divisor.getUsers(), [&](Operation *user) {
      return !isa<stablehlo::BroadcastInDimOp>(user) ||
             user->getResultTypes() == broadcast->getResultTypes();
    });
    Value product = x;
    while (Operation *op = product.getDefiningOp()) {
      if (!isa<stablehlo::ConvertOp, stablehlo::ReshapeOp>(op))
        break;
      product = op->getOperand(0);
    }
    if (!isAlone || small.getNumElements() >= type().getNumElements() ||
        (product.getDefiningOp<stablehlo::DotGeneralOp>() && isPartitioned()))
      return {};
    Value reciprocal = over(constant(1, inF32(small)), converted(divisor, inF32(small)));
    Value spread = stablehlo::BroadcastInDimOp::create(b, op.getLoc(), inF32(type()), reciprocal,
                                                       broadcast.getBroadcastDimensions());
    return converted(times(converted(x, inF32(type())), spread), type());
  }
  RankedTensorType inF32(RankedTensorType type) { return type.clone(b.getF32Type()); }
  Value converted(Value value, RankedTensorType type) {
    if (value.getType() == type)
      return value;
    return stablehlo::ConvertOp::create(b, op.getLoc(), type, value);
  }

  OpBuilder b;
  stablehlo::DivOp op;
  Value x, y;
};

struct RewriteQuotients : impl::RewriteQuotientsBase<RewriteQuotients> {
  void runOnOperation() override {
    SmallVector<stablehlo::DivOp> quotients;
    auto collect = [&](stablehlo::DivOp op) {
      Type element = cast<RankedTensorType>(op.getType()).getElementType();
      if ((element.isF32() || element.isBF16()) && !op->hasAttr("tessera.exact_quotient"))
        quotients.push_back(op);
    };
    getOperation().walk(collect);
    std::reverse(quotients.begin(), quotients.end()); // the first is the last in the list
    // What a rewriting makes may be rewritten again: each takes a division away or into a
    // smaller shape.
    while (!quotients.empty()) {
      stablehlo::DivOp op = quotients.pop_back_val();
      Value value = Quotient(op).rewritten();
      if (!value)
        continue;
      SmallVector<Operation *, 2> operands{op.getLhs().getDefiningOp()};
      if (op.getRhs() != op.getLhs())
        operands.push_back(op.getRhs().getDefiningOp());
      op.replaceAllUsesWith(value);
      op.erase();
      if (auto again = value.getDefiningOp<stablehlo::DivOp>())
        quotients.push_back(again);
      for (Operation *operand : operands)
        if (operand && operand->use_empty()) {
          llvm::erase_if(quotients, [&](stablehlo::DivOp op) { return op == operand; });
          operand->erase();
        }
    }
  }
};

} // namespace
} // namespace tessera
