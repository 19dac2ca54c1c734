#include "passes/import/chlo/DecomposeTopK.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tessera::import {

// The largest first; equal ones in the order of their indices, as the sort is stable.
// Floating-point values compare in total order, so that NaN comes first.
LogicalResult decomposeTopK(chlo::TopKOp op) {
  RankedTensorType type = op.getOperand().getType();
  if (!type.hasStaticShape())
    return op.emitError("top_k of a dynamic shape: give the operand a static shape");
  OpBuilder b(op);
  Location loc = op.getLoc();
  int64_t last = type.getRank() - 1;
  RankedTensorType indexType = type.clone(b.getI32Type());
  Value iota = stablehlo::IotaOp::create(b, loc, indexType, last);
  auto sort = stablehlo::SortOp::create(b, loc, TypeRange{type, indexType},
                                        ValueRange{op.getOperand(), iota},
                                        /*dimension=*/last, /*is_stable=*/true);
  Type scalar = RankedTensorType::get({}, type.getElementType());
  Type index = RankedTensorType::get({}, b.getI32Type());
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&sort.getComparator(), {}, {scalar, scalar, index, index},
                                 {loc, loc, loc, loc});
    auto kind = isa<FloatType>(type.getElementType())       ? stablehlo::ComparisonType::TOTALORDER
                : type.getElementType().isUnsignedInteger() ? stablehlo::ComparisonType::UNSIGNED
                                                            : stablehlo::ComparisonType::SIGNED;
    Value greater =
        stablehlo::CompareOp::create(b, loc, block->getArgument(0), block->getArgument(1),
                                     stablehlo::ComparisonDirection::GT, kind);
    stablehlo::ReturnOp::create(b, loc, greater);
  }
  SmallVector<int64_t> start(type.getRank(), 0), limit(type.getShape()), strides(type.getRank(), 1);
  limit[last] = op.getK();
  SmallVector<Value> results;
  for (Value sorted : sort.getResults())
    results.push_back(stablehlo::SliceOp::create(b, loc, sorted, start, limit, strides));
  op->replaceAllUsesWith(results);
  op.erase();
  return success();
}

} // namespace tessera::import
