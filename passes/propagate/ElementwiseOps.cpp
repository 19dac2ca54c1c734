#include "passes/propagate/ElementwiseOps.h"

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera {

bool isElementwise(mlir::Operation *op) {
  using namespace tessera::stablehlo;
  return op->hasTrait<mlir::OpTrait::Elementwise>() ||
         mlir::isa<SelectOp, ClampOp, BitcastConvertOp, ReducePrecisionOp>(op);
}

} // namespace tessera
