// A sum of products along the rows of an array that has a dimension of size 1 is marked: its
// products are added by fused multiply-adds, in the order of a dot product.
//
//   %p = stablehlo.multiply %x, %y : tensor<1x96x192xf32>    the same, and
//   %r = stablehlo.reduce(%p) applies add across [2]         reduce .. {tessera.row_product}
//
// Elsewhere the products are rounded first and added in the order of row sums. XLA:CPU hands large
// sums to a library that makes a dot product of such a one; a shard with one row of the batch is
// added otherwise than one with two. Found by probing, like docs/rationale/tolerances.md says.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/ReductionClusters.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera {
#define GEN_PASS_DEF_MARKROWPRODUCTS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;

static bool isRowProduct(stablehlo::ReduceOp reduce) {
  if (reduce.getInputs().size() != 1 || reduce.getDimensions().size() != 1 ||
      !isa<stablehlo::AddOp>(reduce.getBody().front().front()))
    return false;
  auto type = cast<RankedTensorType>(reduce.getInputs()[0].getType());
  auto product = reduce.getInputs()[0].getDefiningOp<stablehlo::MulOp>();
  return type.getElementType().isF32() && type.getNumElements() >= fusion::kLargeArray &&
         reduce.getDimensions()[0] == type.getRank() - 1 &&
         llvm::is_contained(type.getShape().drop_back(), 1) && product && product->hasOneUse() &&
         product.getLhs() != product.getRhs();
}

namespace {
struct MarkRowProducts : impl::MarkRowProductsBase<MarkRowProducts> {
  void runOnOperation() override {
    getOperation().walk([&](stablehlo::ReduceOp reduce) {
      if (isRowProduct(reduce))
        reduce->setAttr("tessera.row_product", UnitAttr::get(&getContext()));
    });
  }
};
} // namespace
} // namespace tessera
