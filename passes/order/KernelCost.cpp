#include "passes/order/KernelCost.h"

#include "dialects/stablehlo/StablehloOps.h"

using namespace mlir;

namespace tessera::order {

static double elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getNumElements() : 0;
}

double flopsOf(Region &body) {
  double flops = 0;
  for (Operation &op : body.getOps()) {
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
      double depth = 1;
      for (int64_t dim : dot.getDotDimensionNumbers().getLhsContractingDimensions())
        depth *= cast<RankedTensorType>(dot.getLhs().getType()).getDimSize(dim);
      flops += 2 * depth * elementsOf(dot.getResult());
    } else if (auto conv = dyn_cast<stablehlo::ConvolutionOp>(op)) {
      auto kernel = cast<RankedTensorType>(conv.getRhs().getType());
      int64_t features =
          kernel.getDimSize(conv.getDimensionNumbers().getKernelOutputFeatureDimension());
      flops += 2 * elementsOf(conv.getResult()) * elementsOf(conv.getRhs()) /
               std::max<int64_t>(features, 1);
    } else if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op)) {
      flops += elementsOf(reduce.getInputs().front());
    } else if (op.getNumResults() && !isa<stablehlo::ConstantOp>(op)) {
      flops += elementsOf(op.getResult(0));
    }
  }
  return flops;
}

double bytesOf(exec::FusedOp fused) {
  double bytes = 0;
  for (Type type : fused->getOperandTypes())
    bytes += exec::byteSize(cast<RankedTensorType>(type));
  for (Type type : fused.getResultTypes())
    bytes += exec::byteSize(cast<RankedTensorType>(type));
  return bytes;
}

int64_t newBytesOf(Operation *op) {
  int64_t bytes = 0;
  auto fused = dyn_cast<exec::FusedOp>(op);
  for (auto [i, type] : llvm::enumerate(op->getResultTypes())) {
    Operation *def =
        fused ? fused.getBlock()->getTerminator()->getOperand(i).getDefiningOp() : nullptr;
    if (!isa_and_nonnull<stablehlo::DynamicUpdateSliceOp>(def))
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        bytes += exec::byteSize(tensor);
  }
  return bytes;
}

} // namespace tessera::order
