#include "passes/import/Zeros.h"

#include "dialects/stablehlo/StablehloOps.h"

using namespace mlir;

Value tessera::import::zeros(OpBuilder &b, Location loc, RankedTensorType type) {
  Type element = type.getElementType();
  Attribute zero;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Attribute part = b.getZeroAttr(complex.getElementType());
    zero = b.getArrayAttr({part, part});
  } else {
    zero = isa<IntegerType>(element) ? Attribute(IntegerAttr::get(element, 0))
                                     : b.getZeroAttr(element);
  }
  ArrayRef<Attribute> all(zero);
  if (type.getNumElements() == 0)
    all = {};
  return stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, all));
}
