#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/QuantizedOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerQuantizedOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/QuantizedOps.cpp.inc"
      >();
}

//===------------------------------- Constraints ------------------------------===//

static Type expressed(Type tensor) {
  Type element = getElementTypeOrSelf(tensor);
  auto quantized = dyn_cast<quant::QuantizedType>(element);
  return quantized ? quantized.getExpressedType() : element;
}

static LogicalResult verifyExpressed(Operation *op) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (expressed(from) != expressed(to))
    return violates(op, 2) << "the operand expresses " << expressed(from) << ", the result "
                           << expressed(to);
  return success();
}
LogicalResult UniformQuantizeOp::verify() { return verifyExpressed(*this); }
LogicalResult UniformDequantizeOp::verify() { return verifyExpressed(*this); }

} // namespace tessera::stablehlo
