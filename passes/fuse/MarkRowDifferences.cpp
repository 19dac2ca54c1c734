// A sum with the total of a row, or its negative, is marked: a product in it is rounded first.
//
//   %r = stablehlo.reduce(%t) applies add            the same, and
//   %n = stablehlo.negate %r                         %d = stablehlo.add %p, broadcast(%n)
//   %p = stablehlo.multiply %x, %y                          {tessera.uncontracted}
//   %d = stablehlo.add %p, broadcast(%n)
//
// Elsewhere code generation makes one fused multiply-add of the two. This is the gradient of a
// softmax, where total and product nearly cancel. XLA:CPU hands that of a large array to a library,
// together with the reduction and what it reads: it rounds there.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera {
#define GEN_PASS_DEF_MARKROWDIFFERENCES
#include "passes/fuse/Passes.h.inc"

using namespace mlir;

// Between the largest array that XLA was seen to keep (294,912 elements) and the smallest that it
// was seen to hand over (442,368).
static constexpr int64_t large = 350'000;

// Whether `value` is the broadcast of a sum, up to its sign.
static bool isTotal(Value value) {
  auto spread = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!spread)
    return false;
  Operation *op = spread.getOperand().getDefiningOp();
  while (op && isa<stablehlo::NegOp, stablehlo::ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto reduce = dyn_cast_or_null<stablehlo::ReduceOp>(op);
  return reduce && reduce.getInputs().size() == 1 &&
         isa<stablehlo::AddOp>(reduce.getBody().front().front());
}

namespace {
struct MarkRowDifferences : impl::MarkRowDifferencesBase<MarkRowDifferences> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (!isa<stablehlo::AddOp, stablehlo::SubtractOp>(op) ||
          cast<ShapedType>(op->getResult(0).getType()).getNumElements() < large)
        return;
      Value lhs = op->getOperand(0), rhs = op->getOperand(1);
      if ((lhs.getDefiningOp<stablehlo::MulOp>() && isTotal(rhs)) ||
          (rhs.getDefiningOp<stablehlo::MulOp>() && isTotal(lhs)))
        op->setAttr("tessera.uncontracted", UnitAttr::get(op->getContext()));
    });
  }
};
} // namespace
} // namespace tessera
