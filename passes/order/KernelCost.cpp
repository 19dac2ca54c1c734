#include "passes/order/KernelCost.h"

#include "dialects/stablehlo/StablehloOps.h"

using namespace mlir;

namespace tessera::order {

int64_t newBytesOf(Operation *op) {
  int64_t bytes = 0;
  auto fused = dyn_cast<exec::FusedOp>(op);
  for (auto [i, type] : llvm::enumerate(op->getResultTypes())) {
    Operation *def =
        fused ? fused.getBlock()->getTerminator()->getOperand(i).getDefiningOp() : nullptr;
    if (!isa_and_nonnull<stablehlo::DynamicUpdateSliceOp>(def))
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        bytes += byteSize(tensor);
  }
  return bytes;
}

} // namespace tessera::order
