#include "passes/communicate/ProductWork.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/TensorTypes.h"

#include <algorithm>

using namespace mlir;

namespace tessera::communicate {

static double sizeOf(Value value, ArrayRef<int64_t> dims) {
  double size = 1;
  for (int64_t d : dims)
    size *= static_cast<double>(shapeOf(value)[d]);
  return size;
}

static double elementsOf(Value value) {
  return static_cast<double>(typeOf(value).getNumElements());
}

static cost::ProductType typeOfProduct(Operation *op) {
  Type left = typeOf(op->getOperand(0)).getElementType(),
       right = typeOf(op->getOperand(1)).getElementType();
  return left.isBF16() && right.isBF16()                     ? cost::ProductType::BF16
         : typeOf(op->getResult(0)).getElementType().isF64() ? cost::ProductType::F64
                                                             : cost::ProductType::F32;
}

cost::KernelWork workOfProduct(Operation *op) {
  cost::KernelWork work;
  Value result = op->getResult(0);
  for (Value value : {op->getOperand(0), op->getOperand(1), result})
    work.arrays.push_back({static_cast<double>(byteSize(typeOf(value)))});
  double elements = elementsOf(result);
  if (elements == 0 || flopsOf(op) == 0)
    return work;
  cost::Product product;
  product.type = typeOfProduct(op);
  product.k = product.run = flopsOf(op) / (2 * elements);
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    auto dims = dot.getDotDimensionNumbers();
    product.batch = sizeOf(dot.getLhs(), dims.getLhsBatchingDimensions());
    double added = sizeOf(dot.getLhs(), dims.getLhsContractingDimensions());
    product.m = elementsOf(dot.getLhs()) / (product.batch * added);
  } else { // a convolution: rows of as many results as a tile has, at most
    constexpr double columns = 32;
    product.m = elements / std::min(elements, columns);
  }
  product.n = elements / (product.batch * product.m);
  work.arrays[1].inStrips = product.n > 64;
  work.flops = product.flops();
  work.products.push_back(product);
  return work;
}

cost::KernelWork partOf(cost::KernelWork work, OperandDim::Role role, unsigned operand,
                        double parts) {
  for (cost::Product &product : work.products) {
    double &cut = role == OperandDim::Batch        ? product.batch
                  : role == OperandDim::Contracted ? product.k
                  : operand == 0                   ? product.m
                                                   : product.n;
    cut /= parts;
    product.run = std::min(product.run, product.k);
  }
  work.flops /= parts;
  return work;
}

} // namespace tessera::communicate
