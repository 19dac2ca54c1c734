// Writes batch normalisation and its gradient as reductions and arithmetic. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/import/chlo/ScalarFunctions.h"

namespace tessera {
#define GEN_PASS_DEF_DECOMPOSEBATCHNORM
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

using import::Expr;

// The values of one batch normalisation: full ones, and those with one number a feature.
class Normalization {
public:
  Normalization(Operation *op, Value operand, int64_t feature, const APFloat &epsilon)
      : b(op), loc(op->getLoc()),
        result(cast<RankedTensorType>(operand.getType()).getElementType()), feature(feature),
        epsilon(epsilon.convertToDouble()), x(wide(operand)) {}

  Expr wide(Value value) {
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    return Expr(b, loc, value).convert(element.isF64() ? element : b.getF32Type());
  }
  Value narrow(Expr value) { return value.convert(result).get(); }

  double count() {
    RankedTensorType type = x.type();
    return double(type.getNumElements()) / double(type.getDimSize(feature));
  }
  Expr perFeature(Expr value) {
    return Expr(b, loc,
                stablehlo::BroadcastInDimOp::create(b, loc, x.type(), value.get(),
                                                    ArrayRef<int64_t>{feature}));
  }
  Expr sum(Expr value) {
    SmallVector<int64_t> dims;
    for (int64_t d = 0; d < value.type().getRank(); ++d)
      if (d != feature)
        dims.push_back(d);
    return Expr(b, loc, stablehlo::sumOver(b, loc, value.get(), dims));
  }
  Expr inverseDeviation(Expr variance) { return (variance + epsilon).apply<stablehlo::RsqrtOp>(); }
  Expr normalized(Expr mean, Expr variance, Expr scale, Expr offset) {
    return (x - perFeature(mean)) * perFeature(inverseDeviation(variance) * scale) +
           perFeature(offset);
  }

  OpBuilder b;
  Location loc;
  Type result;
  int64_t feature;
  double epsilon;
  Expr x;
};

void decompose(stablehlo::BatchNormTrainingOp op) {
  Normalization n(op, op.getOperand(), op.getFeatureIndex(), op.getEpsilon());
  Expr mean = n.sum(n.x) / n.count();
  Expr centred = n.x - n.perFeature(mean);
  Expr variance = n.sum(centred * centred) / n.count();
  Expr y = n.normalized(mean, variance, n.wide(op.getScale()), n.wide(op.getOffset()));
  op->replaceAllUsesWith(ValueRange{n.narrow(y), n.narrow(mean), n.narrow(variance)});
  op->erase();
}

void decompose(stablehlo::BatchNormInferenceOp op) {
  Normalization n(op, op.getOperand(), op.getFeatureIndex(), op.getEpsilon());
  Expr y = n.normalized(n.wide(op.getMean()), n.wide(op.getVariance()), n.wide(op.getScale()),
                        n.wide(op.getOffset()));
  op->replaceAllUsesWith(ValueRange{n.narrow(y)});
  op->erase();
}

void decompose(stablehlo::BatchNormGradOp op) {
  Normalization n(op, op.getOperand(), op.getFeatureIndex(), op.getEpsilon());
  Expr dy = n.wide(op.getGradOutput());
  Expr inverse = n.inverseDeviation(n.wide(op.getVariance()));
  Expr centred = n.x - n.perFeature(n.wide(op.getMean()));
  Expr gradOffset = n.sum(dy);
  Expr product = n.sum(dy * centred); // grad_scale without the deviation
  Expr slope = product * inverse * inverse / n.count();
  Expr gradOperand = (dy - n.perFeature(gradOffset / n.count()) - centred * n.perFeature(slope)) *
                     n.perFeature(n.wide(op.getScale()) * inverse);
  op->replaceAllUsesWith(
      ValueRange{n.narrow(gradOperand), n.narrow(product * inverse), n.narrow(gradOffset)});
  op->erase();
}

struct DecomposeBatchNormPass : impl::DecomposeBatchNormBase<DecomposeBatchNormPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<stablehlo::BatchNormTrainingOp, stablehlo::BatchNormInferenceOp,
              stablehlo::BatchNormGradOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto training = dyn_cast<stablehlo::BatchNormTrainingOp>(op))
        decompose(training);
      else if (auto inference = dyn_cast<stablehlo::BatchNormInferenceOp>(op))
        decompose(inference);
      else
        decompose(cast<stablehlo::BatchNormGradOp>(op));
    }
  }
};

} // namespace
} // namespace tessera
