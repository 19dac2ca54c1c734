// Computes in f64 what a program computes in f8E8M0FNU, and rounds each result to it; what picks elements by
// an index picks their bits.
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace tessera {
#define GEN_PASS_DEF_WIDENEXPONENTS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

bool isExponent(Value value) {
  return isa<Float8E8M0FNUType>(getElementTypeOrSelf(value.getType()));
}

bool isArithmetic(Operation *op) {
  return isa<stablehlo::AbsOp, stablehlo::AddOp, stablehlo::Atan2Op, stablehlo::CbrtOp,
             stablehlo::CeilOp, stablehlo::ClampOp, stablehlo::CosineOp, stablehlo::DivOp,
             stablehlo::ExpOp, stablehlo::Expm1Op, stablehlo::FloorOp, stablehlo::Log1pOp,
             stablehlo::LogOp, stablehlo::LogisticOp, stablehlo::MaxOp, stablehlo::MinOp,
             stablehlo::MulOp, stablehlo::NegOp, stablehlo::PowOp, stablehlo::RemOp,
             stablehlo::RoundNearestEvenOp, stablehlo::RoundNearestAfzOp, stablehlo::RsqrtOp,
             stablehlo::SignOp, stablehlo::SineOp, stablehlo::SqrtOp, stablehlo::SubtractOp,
             stablehlo::TanOp, stablehlo::TanhOp>(op);
}

// Devices that have not got the element give nothing to a sum of all, which of this type has no neutral element.
bool picksByIndex(Operation *op) {
  return isa<stablehlo::DynamicSliceOp, stablehlo::GatherOp>(op) && isExponent(op->getResult(0));
}

void pickBits(Operation *op) {
  OpBuilder b(op);
  auto bitsOf = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).clone(b.getIntegerType(8, /*isSigned=*/false));
  };
  OpOperand &operand = op->getOpOperand(0);
  operand.set(
      stablehlo::BitcastConvertOp::create(b, op->getLoc(), bitsOf(operand.get()), operand.get()));
  Value result = op->getResult(0);
  Type exponents = result.getType();
  result.setType(bitsOf(result));
  b.setInsertionPointAfter(op);
  auto picked = stablehlo::BitcastConvertOp::create(b, op->getLoc(), exponents, result);
  sdy::keepSharding(result, picked->getResults());
  result.replaceAllUsesExcept(picked, picked);
}

Type widened(OpBuilder &b, Value value) {
  return cast<RankedTensorType>(value.getType()).clone(b.getF64Type());
}

struct WidenExponentsPass : impl::WidenExponentsBase<WidenExponentsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> found, picking;
    getOperation().walk([&](Operation *op) {
      if (picksByIndex(op))
        picking.push_back(op);
      if (isArithmetic(op) && isExponent(op->getResult(0)))
        found.push_back(op);
    });
    llvm::for_each(picking, pickBits);
    for (Operation *op : found) {
      OpBuilder b(op);
      for (OpOperand &operand : op->getOpOperands())
        operand.set(stablehlo::ConvertOp::create(b, op->getLoc(), widened(b, operand.get()),
                                                 operand.get()));
      Value result = op->getResult(0);
      Type narrow = result.getType();
      result.setType(widened(b, result));
      b.setInsertionPointAfter(op);
      auto rounded = stablehlo::ConvertOp::create(b, op->getLoc(), narrow, result);
      sdy::keepSharding(result, rounded->getResults());
      result.replaceAllUsesExcept(rounded, rounded);
    }
  }
};

} // namespace
} // namespace tessera
