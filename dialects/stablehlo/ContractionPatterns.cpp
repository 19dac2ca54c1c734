// A transpose that only a product reads is part of the product:
//
//   %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
//   %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0]
// becomes
//   %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
//
// The dimensions that stay must keep their order, for the result has them in it. A transpose that
// others read, too, is made once. (The transpose of a product swaps its factors late, in
// tessera-simplify-shapes: before, the collectives of its reduction come between the two.)
#include "dialects/stablehlo/ConstantElements.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tessera::stablehlo {
namespace {

using Dims = SmallVector<int64_t>;

// What `dims` of a transpose's result are in its operand.
Dims before(ArrayRef<int64_t> permutation, ArrayRef<int64_t> dims) {
  Dims result;
  for (int64_t d : dims)
    result.push_back(permutation[d]);
  return result;
}

// Whether the dimensions that are neither batched nor contracted come in one order before and
// after.
bool keepsOrder(ArrayRef<int64_t> permutation, ArrayRef<int64_t> batching,
                ArrayRef<int64_t> contracting) {
  Dims kept;
  for (auto [d, from] : llvm::enumerate(permutation))
    if (!llvm::is_contained(batching, int64_t(d)) && !llvm::is_contained(contracting, int64_t(d)))
      kept.push_back(from);
  return llvm::is_sorted(kept);
}

LogicalResult takeTranspose(DotGeneralOp op, PatternRewriter &rewriter) {
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  Value factors[] = {op.getLhs(), op.getRhs()};
  Dims batching[] = {Dims(numbers.getLhsBatchingDimensions()),
                     Dims(numbers.getRhsBatchingDimensions())};
  Dims contracting[] = {Dims(numbers.getLhsContractingDimensions()),
                        Dims(numbers.getRhsContractingDimensions())};
  for (int side : {0, 1}) {
    auto transpose = factors[side].getDefiningOp<TransposeOp>();
    if (!transpose || !transpose->hasOneUse() || isAnnotated(transpose))
      continue;
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    if (!keepsOrder(permutation, batching[side], contracting[side]))
      continue;
    factors[side] = transpose.getOperand();
    batching[side] = before(permutation, batching[side]);
    contracting[side] = before(permutation, contracting[side]);
  }
  if (factors[0] == op.getLhs() && factors[1] == op.getRhs())
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getLhsMutable().assign(factors[0]);
    op.getRhsMutable().assign(factors[1]);
    op.setDotDimensionNumbersAttr(DotDimensionNumbersAttr::get(
        op.getContext(), batching[0], batching[1], contracting[0], contracting[1]));
  });
  return success();
}

} // namespace

void DotGeneralOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(takeTranspose);
}

} // namespace tessera::stablehlo
