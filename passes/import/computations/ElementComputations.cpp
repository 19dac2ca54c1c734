#include "passes/import/computations/ElementComputations.h"

#include "dialects/stablehlo/StablehloOps.h"

using namespace mlir;

namespace tessera::import {

bool exceedsElements(Operation *op) {
  return isa<stablehlo::WhileOp>(op) || llvm::any_of(op->getResultTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor && tensor.hasStaticShape() && tensor.getNumElements() > 1;
         });
}

} // namespace tessera::import
