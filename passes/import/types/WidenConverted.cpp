// What a program converts from bf16 to f32 is computed in f32 to begin with. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {
#define GEN_PASS_DEF_WIDENCONVERTED
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

// Whether the operation rounds its result to bf16, and can be one on f32.
bool rounds(Operation *op) {
  return isa<stablehlo::DotGeneralOp, chlo::SquareOp, stablehlo::AddOp, stablehlo::SubtractOp,
             stablehlo::MulOp, stablehlo::DivOp, stablehlo::PowOp, stablehlo::Atan2Op,
             stablehlo::ExpOp, stablehlo::Expm1Op, stablehlo::LogOp, stablehlo::Log1pOp,
             stablehlo::LogisticOp, stablehlo::TanhOp, stablehlo::SineOp, stablehlo::CosineOp,
             stablehlo::TanOp, stablehlo::SqrtOp, stablehlo::RsqrtOp, stablehlo::CbrtOp>(op);
}

// `value` in f32.
Value widened(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  DenseElementsAttr data;
  if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>())
    data = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (data && data.isSplat()) {
    bool inexact;
    APFloat number = data.getSplatValue<APFloat>();
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
    return stablehlo::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type.clone(b.getF32Type()), number));
  }
  auto convert = stablehlo::ConvertOp::create(b, loc, type.clone(b.getF32Type()), value);
  sdy::keepSharding(value, convert->getResults());
  return convert;
}

void widen(Operation *op, ArrayRef<stablehlo::ConvertOp> conversions) {
  OpBuilder b(op);
  Value narrow = op->getResult(0);
  auto type = cast<RankedTensorType>(narrow.getType());
  Operation *wide = b.clone(*op);
  wide->getResult(0).setType(type.clone(b.getF32Type()));
  if (!isa<stablehlo::DotGeneralOp>(op)) {
    b.setInsertionPoint(wide);
    for (OpOperand &operand : wide->getOpOperands())
      operand.set(widened(b, op->getLoc(), operand.get()));
    b.setInsertionPointAfter(wide);
  }
  for (stablehlo::ConvertOp convert : conversions) {
    convert.getResult().replaceAllUsesWith(wide->getResult(0));
    convert.erase();
  }
  if (!narrow.use_empty()) {
    auto rounded = stablehlo::ConvertOp::create(b, op->getLoc(), type, wide->getResult(0));
    sdy::keepSharding(narrow, rounded->getResults());
    narrow.replaceAllUsesWith(rounded);
  }
  op->erase();
}

struct WidenConvertedPass : impl::WidenConvertedBase<WidenConvertedPass> {
  void runOnOperation() override {
    llvm::MapVector<Operation *, SmallVector<stablehlo::ConvertOp>> conversions;
    getOperation().walk([&](stablehlo::ConvertOp convert) {
      Operation *op = convert.getOperand().getDefiningOp();
      if (op && rounds(op) && convert.getOperand().getType().getElementType().isBF16() &&
          convert.getType().getElementType().isF32())
        conversions[op].push_back(convert);
    });
    for (auto &[op, ofOp] : conversions)
      widen(op, ofOp);
  }
};

} // namespace
} // namespace tessera
