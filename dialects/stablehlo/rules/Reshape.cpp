// reshape: the common refinement of the two lists of dimensions.
//
//   8x12 -> 96          ([i, j]) -> ([ij])
//   8x16x32 -> 4x32x32  ([ij, k, l]) -> ([i, jk, l])   {i=4, j=2, k=16, l=32}
//   6x4 -> 4x6          ([ij, lm]) -> ([ik, no])       {i=2, j=3 whole, ..}: 3 and 2 have no common part
//   bitcast_convert     ([i]) -> ([i, j])              {j whole}
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"
#include <numeric>

namespace tessera::stablehlo {

sharding::FactorRule ruleOf(ReshapeOp op) {
  RuleBuilder builder(op);
  llvm::ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  size_t i = 0, o = 0;
  int64_t inRest = 0, outRest = 0; // what is left of dimensions i and o, 0 before they are begun
  auto whole = [&](int64_t size) {
    return builder.factor(size, RuleBuilder::Kind::NeedReplication);
  };
  if (op.getType().getNumElements() == 0) { // sizes don't say which dimensions belong together
    for (auto [dim, size] : llvm::enumerate(from))
      builder.operand(0, dim, whole(size));
    for (auto [dim, size] : llvm::enumerate(to))
      builder.result(0, dim, whole(size));
    return builder.take();
  }
  while (i < from.size() || o < to.size()) {
    if (inRest == 0 && i < from.size())
      inRest = from[i];
    if (outRest == 0 && o < to.size())
      outRest = to[o];
    if (i < from.size() && o < to.size() && inRest == outRest) {
      int32_t factor = builder.factor(inRest);
      builder.operand(0, i++, factor).result(0, o++, factor);
      inRest = outRest = 0;
    } else if (i < from.size() && (o == to.size() || from[i] == 1)) {
      builder.operand(0, i++, builder.factor(inRest));
      inRest = 0;
    } else if (o < to.size() && (i == from.size() || to[o] == 1)) {
      builder.result(0, o++, builder.factor(outRest));
      outRest = 0;
    } else if (int64_t common = std::gcd(inRest, outRest); common == std::min(inRest, outRest)) {
      int32_t factor = builder.factor(common);
      builder.operand(0, i, factor).result(0, o, factor);
      inRest /= common;
      outRest /= common;
      if (inRest == 1)
        ++i, inRest = 0;
      if (outRest == 1)
        ++o, outRest = 0;
    } else {
      // The rests interleave: share their common part, then both need whole dimensions until the
      // products meet.
      if (common > 1) {
        int32_t factor = builder.factor(common);
        builder.operand(0, i, factor).result(0, o, factor);
        inRest /= common;
        outRest /= common;
      }
      int64_t inProduct = inRest, outProduct = outRest;
      builder.operand(0, i++, whole(inRest));
      builder.result(0, o++, whole(outRest));
      while (inProduct != outProduct) {
        if (inProduct < outProduct) {
          inProduct *= from[i];
          builder.operand(0, i, whole(from[i]));
          ++i;
        } else {
          outProduct *= to[o];
          builder.result(0, o, whole(to[o]));
          ++o;
        }
      }
      inRest = outRest = 0;
    }
  }
  return builder.take();
}

sharding::FactorRule ruleOf(BitcastConvertOp op) {
  RuleBuilder builder(op);
  size_t from = shapeOf(op.getOperand()).size(), to = shapeOf(op.getResult()).size();
  llvm::ArrayRef<int64_t> longer = shapeOf(from > to ? op.getOperand() : op.getResult());
  for (auto [dim, size] : llvm::enumerate(longer)) {
    bool shared = dim < from && dim < to;
    int32_t factor = builder.factor(size, shared ? RuleBuilder::Kind::PassThrough
                                                 : RuleBuilder::Kind::NeedReplication);
    if (dim < from)
      builder.operand(0, dim, factor);
    if (dim < to)
      builder.result(0, dim, factor);
  }
  return builder.take();
}

} // namespace tessera::stablehlo
