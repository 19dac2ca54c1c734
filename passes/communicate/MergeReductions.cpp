// A sum of reduced values is the reduction of their sum. Passes.td shows an example.
#include "passes/communicate/Passes.h"

#include "dialects/comm/CommOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

namespace tessera {
#define GEN_PASS_DEF_MERGEREDUCTIONS
#include "passes/communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::communicate {
namespace {

std::optional<comm::ReductionKind> kindOf(Operation *op) {
  if (isa<stablehlo::AddOp>(op)) {
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 16)
      return std::nullopt;
    return comm::ReductionKind::Sum;
  }
  if (isa<stablehlo::MaxOp>(op))
    return comm::ReductionKind::Max;
  if (isa<stablehlo::MinOp>(op))
    return comm::ReductionKind::Min;
  return std::nullopt;
}

// The reduction behind an operand that nothing else uses.
template <typename Op> Op reductionOf(Value value, comm::ReductionKind kind) {
  auto op = value.getDefiningOp<Op>();
  return op && op->getNumOperands() == 1 && op.getReduction() == kind && value.hasOneUse() ? op
                                                                                           : Op();
}

template <typename Op> bool merge(Operation *sum, comm::ReductionKind kind) {
  Op a = reductionOf<Op>(sum->getOperand(0), kind);
  Op b = a ? reductionOf<Op>(sum->getOperand(1), kind) : Op();
  if (!b || a == b || a->getBlock() != sum->getBlock() || b->getBlock() != sum->getBlock() ||
      a.getInputs().getTypes() != b.getInputs().getTypes() ||
      a->getPropertiesAsAttribute() != b->getPropertiesAsAttribute())
    return false;
  OpBuilder builder(sum);
  OperationState state(sum->getLoc(), sum->getName(),
                       {a.getInputs().front(), b.getInputs().front()},
                       {a.getInputs().front().getType()});
  Value local = builder.create(state)->getResult(0);
  Operation *reduced = builder.clone(*a.getOperation());
  reduced->setOperand(0, local);
  sum->getResult(0).replaceAllUsesWith(reduced->getResult(0));
  sum->erase();
  a.erase();
  b.erase();
  return true;
}

struct MergeReductions : impl::MergeReductionsBase<MergeReductions> {
  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation().walk([&](Operation *op) {
      if (kindOf(op))
        sums.push_back(op);
    });
    for (Operation *sum : sums) { // in program order: a merged one is an operand of the next
      comm::ReductionKind kind = *kindOf(sum);
      if (!merge<comm::AllReduceOp>(sum, kind))
        merge<comm::ReduceScatterOp>(sum, kind);
    }
  }
};

} // namespace
} // namespace tessera::communicate
