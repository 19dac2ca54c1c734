#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/ReductionOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ReductionOps.cpp.inc"
      >();
}

LogicalResult BatchNormGradOp::verify() { return success(); }
LogicalResult BatchNormInferenceOp::verify() { return success(); }
LogicalResult BatchNormTrainingOp::verify() { return success(); }
LogicalResult MapOp::verify() { return success(); }
LogicalResult ReduceOp::verify() { return success(); }
LogicalResult ReduceWindowOp::verify() { return success(); }
LogicalResult ScatterOp::verify() { return success(); }
LogicalResult SelectAndScatterOp::verify() { return success(); }
LogicalResult SortOp::verify() { return success(); }

} // namespace tessera::stablehlo
