#include "passes/communicate/ProductDims.h"

#include "dialects/stablehlo/TensorTypes.h"

using namespace mlir;

namespace tessera::communicate {
namespace {

struct Side {
  ArrayRef<int64_t> batch, contracted;

  bool isFree(int64_t dim) const {
    return !llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim);
  }
  // How many free dimensions come before `dim`.
  int64_t freeBefore(int64_t dim) const {
    return llvm::count_if(llvm::seq<int64_t>(0, dim), [&](int64_t d) { return isFree(d); });
  }
};

Side sideOf(stablehlo::DotGeneralOp dot, unsigned operand) {
  stablehlo::DotDimensionNumbersAttr dims = dot.getDotDimensionNumbers();
  if (operand == 0)
    return {dims.getLhsBatchingDimensions(), dims.getLhsContractingDimensions()};
  return {dims.getRhsBatchingDimensions(), dims.getRhsContractingDimensions()};
}

int64_t placeIn(ArrayRef<int64_t> dims, int64_t dim) {
  return llvm::find(dims, dim) - dims.begin();
}

} // namespace

OperandDim operandDim(stablehlo::DotGeneralOp dot, unsigned operand, int64_t dim) {
  Side mine = sideOf(dot, operand), other = sideOf(dot, 1 - operand);
  if (llvm::is_contained(mine.batch, dim)) {
    int64_t place = placeIn(mine.batch, dim);
    return {OperandDim::Batch, other.batch[place], place};
  }
  if (llvm::is_contained(mine.contracted, dim))
    return {OperandDim::Contracted, other.contracted[placeIn(mine.contracted, dim)], -1};
  int64_t result = mine.batch.size() + mine.freeBefore(dim);
  if (operand == 1)
    result += other.freeBefore(shapeOf(dot.getLhs()).size());
  return {OperandDim::Free, -1, result};
}

ResultDim resultDim(stablehlo::DotGeneralOp dot, int64_t dim) {
  for (unsigned operand : {0u, 1u})
    for (int64_t d = 0, rank = shapeOf(dot->getOperand(operand)).size(); d < rank; ++d) {
      OperandDim found = operandDim(dot, operand, d);
      if (found.role == OperandDim::Contracted || found.result != dim)
        continue;
      if (found.role == OperandDim::Batch)
        return {d, found.other};
      return operand == 0 ? ResultDim{d, -1} : ResultDim{-1, d};
    }
  return {};
}

Value productOf(OpBuilder &b, stablehlo::DotGeneralOp dot, Value lhs, Value rhs, Type element) {
  SmallVector<int64_t> shape;
  Side left = sideOf(dot, 0), right = sideOf(dot, 1);
  for (int64_t dim : left.batch)
    shape.push_back(shapeOf(lhs)[dim]);
  for (auto [side, value] : {std::pair(left, lhs), std::pair(right, rhs)})
    for (auto [dim, size] : llvm::enumerate(shapeOf(value)))
      if (side.isFree(dim))
        shape.push_back(size);
  Operation *made = b.clone(*dot);
  made->setOperands({lhs, rhs});
  made->getResult(0).setType(RankedTensorType::get(shape, element));
  return made->getResult(0);
}

} // namespace tessera::communicate
