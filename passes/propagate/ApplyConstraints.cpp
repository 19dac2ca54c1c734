// Where one constraint, or one operand of a manual computation, demands a closed sharding of a
// value that has none, the value gets it: openness doesn't propagate, so that the constraint alone
// would not keep other axes out. Passes.td shows an example.
#include "dialects/sdy/DataFlow.h"
#include "dialects/sdy/PlainData.h"
#include "passes/propagate/ClosedSharding.h"
#include "passes/propagate/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {
#define GEN_PASS_DEF_APPLYCONSTRAINTS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;
using namespace tessera::sdy;

namespace {

// What this use demands; null when nothing.
TensorShardingAttr demandOf(OpOperand &use) {
  if (auto constraint = dyn_cast<ShardingConstraintOp>(use.getOwner()))
    return constraint.getSharding();
  if (auto manual = dyn_cast<ManualComputationOp>(use.getOwner()))
    return manual.getInShardings().getShardings()[use.getOperandNumber()];
  return {};
}

bool othersDemandElse(OpOperand &demand, TensorShardingAttr sharding) {
  return llvm::any_of(demand.get().getUses(), [&](OpOperand &use) {
    TensorShardingAttr other = &use == &demand ? sharding : demandOf(use);
    return other && other != sharding;
  });
}

// Whether `op`, or the op of its block that holds it, comes after `first`.
bool isAfter(Operation *op, Operation *first) {
  Operation *ancestor = first->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && first->isBeforeInBlock(ancestor);
}

void useInstead(Value value, ShardingConstraintOp constraint, bool alsoReturns) {
  value.replaceUsesWithIf(constraint.getResult(), [&](OpOperand &use) {
    return use.getOwner() != constraint && isAfter(use.getOwner(), constraint) &&
           (alsoReturns || !isa<func::ReturnOp>(use.getOwner()));
  });
}

void apply(OpOperand &demand) {
  TensorShardingAttr sharding = demandOf(demand);
  Value value = demand.get();
  if (!isClosed(sharding) || getSharding(value) || othersDemandElse(demand, sharding))
    return;
  if (!isEdgeTarget(value))
    return setSharding(value, sharding);
  if (auto constraint = dyn_cast<ShardingConstraintOp>(demand.getOwner()))
    useInstead(value, constraint, /*alsoReturns=*/true);
}

bool isDemand(Operation *op) { return isa<ShardingConstraintOp, ManualComputationOp>(op); }

// The last of the chain of constraints that begins with `first`; null when there is no chain.
ShardingConstraintOp lastOfChain(ShardingConstraintOp first) {
  Value value = first.getInput();
  if (value.getDefiningOp<ShardingConstraintOp>() ||
      llvm::count_if(value.getUses(), [](OpOperand &use) { return isDemand(use.getOwner()); }) != 1)
    return {};
  ShardingConstraintOp last = first;
  while (last.getResult().hasOneUse()) {
    auto next = dyn_cast<ShardingConstraintOp>(*last.getResult().user_begin());
    if (!next || next->getBlock() != last->getBlock())
      break;
    last = next;
  }
  if (last == first || llvm::any_of(last.getResult().getUsers(), isDemand))
    return {};
  return last;
}

struct ApplyConstraints : impl::ApplyConstraintsBase<ApplyConstraints> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isDemand(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        if (isa<RankedTensorType>(operand.get().getType()))
          apply(operand);
      if (auto constraint = dyn_cast<ShardingConstraintOp>(op))
        if (ShardingConstraintOp last = lastOfChain(constraint))
          useInstead(constraint.getInput(), last, /*alsoReturns=*/false);
    });
  }
};

} // namespace
} // namespace tessera
