#include "dialects/stablehlo/Converted.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"

using namespace mlir;

namespace tessera::stablehlo {

Value converted(OpBuilder &b, Location loc, Value value, Type element) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == element)
    return value;
  return ConvertOp::create(b, loc, type.clone(element), value);
}

} // namespace tessera::stablehlo
