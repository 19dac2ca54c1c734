#include "passes/propagate/ConstantExpressions.h"

#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/StablehloOps.h"

using namespace mlir;

namespace tessera {

bool ConstantExpressions::add(Operation *op) {
  using namespace tessera::stablehlo;
  if (isa<stablehlo::ConstantOp, sdy::ConstantOp, IotaOp>(op)) {
    constants.insert(op);
    return true;
  }
  if (op->getNumOperands() == 0 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return false;
  if (isa<BroadcastInDimOp, ReshapeOp, SliceOp, ElementwiseOpInterface, sdy::PropagationBarrierOp>(
          op)) {
    bool constant = llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *definition = operand.getDefiningOp();
      return definition && constants.contains(definition);
    });
    if (constant && isPure(op)) {
      constants.insert(op);
      return true;
    }
  }
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
    if (cast<ShapedType>(broadcast.getOperand().getType()).getRank() == 0) {
      spreads.insert(op);
      return true;
    }
  return false;
}

} // namespace tessera
