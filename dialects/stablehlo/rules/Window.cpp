// Ops with windows: windowed dimensions permute; sharded, each shard needs a halo of its
// neighbours' rows, or, for windows as long as the dimension, the totals of the shards before it.
//
//   reduce_window 1x3x1      ([b, s, f], []) -> ([b, s, f])              s permutes
//   select_and_scatter 1x3x1 ([b, s, f], [b, s, f], []) -> ([b, s, f])   s permutes
#include "dialects/stablehlo/RunningReduction.h"
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

using Kind = RuleBuilder::Kind;

sharding::FactorRule ruleOf(ReduceWindowOp op) {
  RuleBuilder builder(op);
  llvm::ArrayRef<int64_t> from = shapeOf(op.getInputs()[0]), to = shapeOf(op.getResult(0));
  llvm::SmallVector<RunningDim> running;
  if (isSplittable(op))
    running = runningDims(op);
  for (size_t dim = 0; dim < from.size(); ++dim) {
    bool plain = op.getWindowDimensions()[dim] == 1 && from[dim] == to[dim];
    int32_t factor =
        builder.factor(std::min(from[dim], to[dim]), plain ? Kind::PassThrough : Kind::Permutation);
    if (llvm::any_of(running, [&](RunningDim each) { return each.dim == int64_t(dim); }))
      builder.scanned(factor);
    for (size_t i = 0; i < op.getInputs().size(); ++i)
      builder.operand(i, dim, factor).result(i, dim, factor);
  }
  return builder.take();
}

sharding::FactorRule ruleOf(SelectAndScatterOp op) {
  RuleBuilder builder(op);
  llvm::ArrayRef<int64_t> image = shapeOf(op.getOperand()), source = shapeOf(op.getSource());
  for (size_t dim = 0; dim < image.size(); ++dim) {
    bool plain = image[dim] == source[dim] &&
                 (!op.getWindowDimensions() || (*op.getWindowDimensions())[dim] == 1);
    // The source is sharded like the image: what it selects lies in its own shard or a halo.
    int32_t factor = builder.factor(plain ? image[dim] : std::min(image[dim], source[dim]),
                                    plain ? Kind::PassThrough : Kind::Permutation);
    builder.operand(0, dim, factor).operand(1, dim, factor).result(0, dim, factor);
  }
  return builder.take();
}

} // namespace tessera::stablehlo
