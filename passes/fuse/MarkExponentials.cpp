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

static bool isMaximumOf(Value value, Value row) {
  if (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>())
    value = reshape.getOperand();
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
  return reduce && reduce.getInputs().size() == 1 && reduce.getInputs()[0] == row &&
         isa<stablehlo::MaxOp>(reduce.getBody().front().front());
}

namespace {
struct MarkExponentials : impl::MarkExponentialsBase<MarkExponentials> {
  void runOnOperation() override {
    getOperation().walk([&](stablehlo::ExpOp op) {
      auto difference = op.getOperand().getDefiningOp<stablehlo::SubtractOp>();
      if (!difference || !difference->hasOneUse())
        return;
      auto broadcast = difference.getRhs().getDefiningOp<stablehlo::BroadcastInDimOp>();
      if (broadcast && isMaximumOf(broadcast.getOperand(), difference.getLhs()))
        op->setAttr("tessera.nonpositive", UnitAttr::get(op.getContext()));
    });
  }
};
} // namespace
} // namespace tessera
