// Writes the layouts of custom calls as transposes, so that every array is row-major.
// Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/OpsWithin.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tessera {
#define GEN_PASS_DEF_EXPLICITLAYOUTS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using stablehlo::CustomCallOp;

namespace {

// The dimensions of a value from the one that is outermost in memory on; empty when that is the
// order that they have.
SmallVector<int64_t> outerFirst(ArrayAttr layouts, size_t i) {
  SmallVector<int64_t> dims;
  auto layout = layouts ? dyn_cast<DenseIntElementsAttr>(layouts[i]) : DenseIntElementsAttr();
  if (!layout)
    return dims;
  for (const APInt &dim : layout.getValues<APInt>())
    dims.push_back(dim.getSExtValue());
  std::reverse(dims.begin(), dims.end());
  if (llvm::is_sorted(dims))
    dims.clear();
  return dims;
}

bool isPermutationOf(ArrayAttr layouts, TypeRange types) {
  if (!layouts)
    return true;
  if (layouts.size() != types.size())
    return false;
  for (auto [layout, type] : llvm::zip(layouts, types)) {
    auto elements = dyn_cast<DenseIntElementsAttr>(layout);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!elements || !tensor || elements.getNumElements() != tensor.getRank())
      return false;
    llvm::SmallBitVector seen(tensor.getRank());
    for (const APInt &dim : elements.getValues<APInt>()) {
      if (dim.isNegative() || dim.uge(tensor.getRank()))
        return false;
      seen.set(dim.getZExtValue());
    }
    if (!seen.all())
      return false;
  }
  return true;
}

LogicalResult makeExplicit(CustomCallOp call) {
  ArrayAttr operands = call.getOperandLayoutsAttr(), results = call.getResultLayoutsAttr();
  if (!operands && !results) {
    if (call.getCallTargetName().starts_with("lapack_"))
      return call.emitError("custom call @")
             << call.getCallTargetName()
             << " takes matrices column by column: say so in operand_layouts and result_layouts";
    return success();
  }
  if (!isPermutationOf(operands, call->getOperandTypes()) ||
      !isPermutationOf(results, call->getResultTypes()))
    return call.emitError("custom call @")
           << call.getCallTargetName() << " has layouts that do not fit its operands and results";
  OpBuilder b(call);
  Location loc = call.getLoc();
  for (OpOperand &operand : call->getOpOperands())
    if (auto dims = outerFirst(operands, operand.getOperandNumber()); !dims.empty())
      operand.set(stablehlo::TransposeOp::create(b, loc, operand.get(), dims));
  b.setInsertionPointAfter(call);
  for (OpResult result : call->getResults()) {
    auto dims = outerFirst(results, result.getResultNumber());
    if (dims.empty())
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape;
    for (int64_t dim : dims)
      shape.push_back(type.getDimSize(dim));
    result.setType(type.clone(shape));
    if (result.use_empty())
      continue;
    SmallVector<int64_t> inverse(dims.size());
    for (auto [place, dim] : llvm::enumerate(dims))
      inverse[dim] = place;
    auto back = stablehlo::TransposeOp::create(b, loc, result, inverse);
    result.replaceAllUsesExcept(back, back);
  }
  call.removeOperandLayoutsAttr();
  call.removeResultLayoutsAttr();
  call.removeOutputOperandAliasesAttr();
  call->removeDiscardableAttr("mhlo.frontend_attributes");
  return success();
}

struct ExplicitLayoutsPass : impl::ExplicitLayoutsBase<ExplicitLayoutsPass> {
  void runOnOperation() override {
    for (CustomCallOp call : opsWithin<CustomCallOp>(getOperation()))
      if (failed(makeExplicit(call)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tessera
