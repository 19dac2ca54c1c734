// What moves without arithmetic moves in the narrower type. Passes.td shows an example.
#include "passes/communicate/Passes.h"

#include "dialects/comm/CommOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace tessera {
#define GEN_PASS_DEF_NARROWCOLLECTIVES
#include "passes/communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::communicate {
namespace {

unsigned bits(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

Value convert(OpBuilder &b, Location loc, Value value, Type element) {
  return stablehlo::ConvertOp::create(
      b, loc, cast<RankedTensorType>(value.getType()).clone(element), value);
}

// The same collective on another operand.
Value collectiveOn(OpBuilder &b, Operation *collective, Value operand) {
  auto type = cast<RankedTensorType>(collective->getResult(0).getType());
  Operation *made = b.clone(*collective);
  made->setOperand(0, operand);
  made->getResult(0).setType(type.clone(getElementTypeOrSelf(operand.getType())));
  return made->getResult(0);
}

// The narrower type that all users convert the result to; none if they do not.
Type convertedTo(Value result) {
  Type to;
  for (Operation *user : result.getUsers()) {
    auto convert = dyn_cast<stablehlo::ConvertOp>(user);
    if (!convert || (to && to != getElementTypeOrSelf(convert.getType())))
      return {};
    to = getElementTypeOrSelf(convert.getType());
  }
  return to && to.isFloat() && to.getIntOrFloatBitWidth() < bits(result) ? to : Type();
}

void narrow(Operation *collective) {
  OpBuilder b(collective);
  Value input = collective->getOperand(0), result = collective->getResult(0);
  if (Type to = convertedTo(result)) {
    Value moved = collectiveOn(b, collective, convert(b, collective->getLoc(), input, to));
    for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
      user->getResult(0).replaceAllUsesWith(moved);
      user->erase();
    }
    collective->erase();
    return;
  }
  auto widened = input.getDefiningOp<stablehlo::ConvertOp>();
  if (!widened || !bits(widened.getOperand()) || bits(widened.getOperand()) >= bits(input))
    return;
  Value moved = collectiveOn(b, collective, widened.getOperand());
  result.replaceAllUsesWith(
      convert(b, collective->getLoc(), moved, getElementTypeOrSelf(result.getType())));
  collective->erase();
  if (widened->use_empty())
    widened->erase();
}

struct NarrowCollectives : impl::NarrowCollectivesBase<NarrowCollectives> {
  void runOnOperation() override {
    SmallVector<Operation *> movers;
    getOperation().walk([&](Operation *op) {
      if (isa<comm::AllGatherOp, comm::AllToAllOp, comm::PermuteOp, comm::ShiftOp,
              comm::BroadcastOp>(op) &&
          op->getNumOperands() == 1)
        movers.push_back(op);
    });
    for (Operation *op : movers)
      narrow(op);
  }
};

} // namespace
} // namespace tessera::communicate
