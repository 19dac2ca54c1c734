#include "passes/import/Converted.h"

#include "dialects/stablehlo/StablehloOps.h"

using namespace mlir;

namespace tessera::import {

Value converted(OpBuilder &b, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return stablehlo::ConvertOp::create(b, loc, type.clone(element), value);
}

} // namespace tessera::import
