#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/ContractionOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ContractionOps.cpp.inc"
      >();
}

LogicalResult ConvolutionOp::verify() { return success(); }
LogicalResult DotGeneralOp::verify() { return success(); }
LogicalResult DotOp::verify() { return success(); }

} // namespace tessera::stablehlo
