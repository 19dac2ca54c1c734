// An exponential of what is at most zero, a row minus its maximum, is marked:
//
//   %m = stablehlo.reduce(%x) applies maximum        the same, and
//   %d = stablehlo.subtract %x, broadcast(%m)        %e = stablehlo.exponential %d
//   %e = stablehlo.exponential %d                           {tessera.nonpositive}
//
// Code generation then needs no care for overflow, and rounds as XLA:CPU does in a softmax, which
// has a function of its own there. XLA fuses so only where nothing else reads the difference.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Matchers.h"

namespace tessera {
#define GEN_PASS_DEF_MARKEXPONENTIALS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;

// Whether a reduction's region is the larger of its two arguments and nothing else.
static bool takesMaximum(stablehlo::ReduceOp reduce) {
  Block &body = reduce.getBody().front();
  auto larger = dyn_cast<stablehlo::MaxOp>(body.front());
  return larger && larger->getNextNode() == body.getTerminator() &&
         body.getTerminator()->getOperand(0) == larger.getResult() &&
         isa<BlockArgument>(larger.getLhs()) && isa<BlockArgument>(larger.getRhs()) &&
         larger.getLhs() != larger.getRhs();
}

static SmallVector<int64_t> sizesOverOne(RankedTensorType type) {
  return llvm::filter_to_vector(type.getShape(), [](int64_t size) { return size != 1; });
}

// Whether `spread` has, beside each element of `x`, the maximum of a row with that element in it.
static bool isMaximumOfRow(stablehlo::BroadcastInDimOp spread, Value x) {
  Value value = spread.getOperand();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> dimensions; // those of x that the rows are counted by, but for sizes of 1
  for (auto [dimension, size] : llvm::zip_equal(spread.getBroadcastDimensions(), type.getShape()))
    if (size != 1)
      dimensions.push_back(dimension);
  if (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>()) {
    value = reshape.getOperand();
    if (sizesOverOne(cast<RankedTensorType>(value.getType())) != sizesOverOne(type))
      return false;
  }
  // jax.numpy.max: the larger of -inf and the maximum.
  if (auto larger = value.getDefiningOp<stablehlo::MaxOp>()) {
    DenseFPElementsAttr floor;
    for (auto [side, other] :
         {std::pair(larger.getLhs(), larger.getRhs()), std::pair(larger.getRhs(), larger.getLhs())})
      if (matchPattern(side, m_Constant(&floor)) && floor.isSplat() &&
          floor.getSplatValue<APFloat>().isInfinity() &&
          floor.getSplatValue<APFloat>().isNegative())
        value = other;
  }
  auto reduce = value.getDefiningOp<stablehlo::ReduceOp>();
  if (!reduce || reduce.getInputs().size() != 1 || reduce.getInputs()[0] != x ||
      !takesMaximum(reduce))
    return false;
  SmallVector<int64_t> kept;
  for (auto [d, size] : llvm::enumerate(cast<RankedTensorType>(x.getType()).getShape()))
    if (size != 1 && !llvm::is_contained(reduce.getDimensions(), int64_t(d)))
      kept.push_back(d);
  return dimensions == kept;
}

namespace {
struct MarkExponentials : impl::MarkExponentialsBase<MarkExponentials> {
  void runOnOperation() override {
    getOperation().walk([&](stablehlo::ExpOp op) {
      auto difference = op.getOperand().getDefiningOp<stablehlo::SubtractOp>();
      if (!difference || !difference->hasOneUse())
        return;
      auto broadcast = difference.getRhs().getDefiningOp<stablehlo::BroadcastInDimOp>();
      if (broadcast && isMaximumOfRow(broadcast, difference.getLhs()))
        op->setAttr("tessera.nonpositive", UnitAttr::get(op.getContext()));
    });
  }
};
} // namespace
} // namespace tessera
