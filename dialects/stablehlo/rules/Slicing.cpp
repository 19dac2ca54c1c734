// Ops that take or place a part of a dimension. What is taken whole passes through.
//
//   slice [0:8, 2:6]        ([i, j]) -> ([i, j])             j permutes, with the operand's size
//   pad, reverse            ([i, j]) -> ([i, j])             padded or reversed dimensions permute
//   concatenate dim 1       ([i, j], [i, j]) -> ([i, j])     j permutes when it rolls one value,
//                                                            else is whole
//   dynamic_slice 1x16      ([k, j], [], []) -> ([l, j])     k reduces: a device gives what it has
//                                                            of the slice, zeros else; l whole
//   dynamic_update_slice    ([k, j], [l, j], [], []) -> ([k, j])   k passes through: a device writes
//                                                                  what it has; l whole
#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

namespace {

using Kind = RuleBuilder::Kind;
using sharding::ReductionKind;

// One factor a dimension, shared by the first operand and the result.
sharding::FactorRule perDimension(mlir::Operation *op, llvm::function_ref<Kind(size_t)> kind) {
  RuleBuilder builder(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getOperand(0)))) {
    int32_t factor = builder.factor(size, kind(dim));
    builder.operand(0, dim, factor).result(0, dim, factor);
  }
  return builder.take();
}

// Slices of one value put together again, as jnp.roll does: rows move by a fixed distance. They
// still do where reshard has moved the slices to the result's axes.
bool rolls(ConcatenateOp op) {
  mlir::Value rolled;
  for (mlir::Value input : op.getInputs()) {
    while (auto moved = input.getDefiningOp<sdy::ReshardOp>())
      input = moved.getInput();
    auto slice = input.getDefiningOp<SliceOp>();
    if (!slice || (rolled && slice.getOperand() != rolled))
      return false;
    rolled = slice.getOperand();
  }
  return rolled && rolled.getType() == op.getType();
}

} // namespace

sharding::FactorRule ruleOf(SliceOp op) {
  return perDimension(op, [&](size_t d) {
    return shapeOf(op.getOperand())[d] == shapeOf(op.getResult())[d] ? Kind::PassThrough
                                                                     : Kind::Permutation;
  });
}

sharding::FactorRule ruleOf(PadOp op) {
  return perDimension(op, [&](size_t d) {
    return op.getEdgePaddingLow()[d] == 0 && op.getEdgePaddingHigh()[d] == 0 &&
                   op.getInteriorPadding()[d] == 0
               ? Kind::PassThrough
               : Kind::Permutation;
  });
}

sharding::FactorRule ruleOf(ReverseOp op) {
  return perDimension(op, [&](size_t d) {
    return llvm::is_contained(op.getDimensions(), int64_t(d)) ? Kind::Permutation
                                                              : Kind::PassThrough;
  });
}

sharding::FactorRule ruleOf(ConcatenateOp op) {
  RuleBuilder builder(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getResult()))) {
    Kind kind = Kind::PassThrough;
    if (dim == size_t(op.getDimension()) && op.getInputs().size() > 1)
      kind = rolls(op) ? Kind::Permutation : Kind::NeedReplication;
    int32_t factor = builder.factor(size, kind);
    builder.result(0, dim, factor);
    for (size_t input = 0; input < op.getInputs().size(); ++input)
      builder.operand(input, dim, factor);
  }
  return builder.take();
}

sharding::FactorRule ruleOf(DynamicSliceOp op) {
  RuleBuilder builder(op);
  bool predicate = op.getType().getElementType().isInteger(1);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getOperand()))) {
    int64_t taken = op.getSliceSizes()[dim];
    bool whole = taken == size;
    int32_t factor = builder.factor(size, whole ? Kind::PassThrough : Kind::Reduction,
                                    predicate ? ReductionKind::Or : ReductionKind::Sum);
    builder.operand(0, dim, factor);
    builder.result(0, dim, whole ? factor : builder.factor(taken, Kind::NeedReplication));
  }
  return builder.take();
}

sharding::FactorRule ruleOf(DynamicUpdateSliceOp op) {
  RuleBuilder builder(op);
  llvm::ArrayRef<int64_t> update = shapeOf(op.getUpdate());
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getOperand()))) {
    bool whole = update[dim] == size;
    int32_t factor = builder.factor(size);
    builder.operand(0, dim, factor).result(0, dim, factor);
    builder.operand(1, dim, whole ? factor : builder.factor(update[dim], Kind::NeedReplication));
  }
  return builder.take();
}

} // namespace tessera::stablehlo
