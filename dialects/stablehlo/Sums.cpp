#include "dialects/stablehlo/Sums.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/Matchers.h"

namespace tessera::stablehlo {

using namespace mlir;

Value zeros(OpBuilder &b, Location loc, RankedTensorType type) {
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
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, all));
}

Value zero(OpBuilder &b, Location loc, Type element) {
  return zeros(b, loc, RankedTensorType::get({}, element));
}

bool isZero(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    value = broadcast.getOperand();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

void fillWithSum(OpBuilder &b, Location loc, Region &body, Type element) {
  OpBuilder::InsertionGuard guard(b);
  auto scalar = RankedTensorType::get({}, element);
  Block *block = b.createBlock(&body, {}, {scalar, scalar}, {loc, loc});
  Value sum = AddOp::create(b, loc, scalar, block->getArgument(0), block->getArgument(1));
  ReturnOp::create(b, loc, sum);
}

Value sumOver(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> dims) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, d))
      shape.push_back(size);
  auto reduce = ReduceOp::create(b, loc, TypeRange{type.clone(shape)}, value,
                                 zero(b, loc, type.getElementType()), dims);
  fillWithSum(b, loc, reduce.getBody(), type.getElementType());
  return reduce->getResult(0);
}

} // namespace tessera::stablehlo
