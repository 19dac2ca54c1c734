// Notes for each result of a kernel an operand whose buffer it may overwrite (InplaceOperands.h
// says which may be). Passes.td shows an example.
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/Views.h"
#include "passes/memory/AliasedArguments.h"
#include "passes/memory/InplaceOperands.h"
#include "passes/memory/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_MARKINPLACE
#include "passes/memory/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

// The argument whose next state `value` is: what a loop carries, or a donated argument of the
// program.
static Value stateOf(Value value, ArrayRef<BlockArgument> aliased) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<ReshapeOp>(user))
      if (Value state = stateOf(user->getResult(0), aliased))
        return state;
    if (isa<stablehlo::ReturnOp>(user) && isa<WhileOp>(user->getParentOp()))
      return user->getBlock()->getArgument(use.getOperandNumber());
    if (isa<func::ReturnOp>(user) && aliased[use.getOperandNumber()])
      return aliased[use.getOperandNumber()];
  }
  return {};
}

// Whether `op` is the last reader of what lies behind `value`, and it was made in the same block.
static bool mayTake(Value value, Operation *op) {
  value = originOf(value);
  Operation *def = value.getDefiningOp();
  if (def && isa<ConstantOp>(def))
    return false;
  if (value.getParentBlock() != op->getBlock() || (isa<func::FuncOp>(op->getParentOp()) && !def))
    return false;
  return isReadLastBy(value, op);
}

static void mark(exec::FusedOp fused, ArrayRef<BlockArgument> aliased) {
  memory::InplaceOperands operands(fused);
  unsigned count = fused.getInputs().size();
  SmallVector<int64_t> inplace(fused.getNumResults(), -1);
  SmallVector<bool> taken(count, false);
  auto overwrite = [&](unsigned result, int64_t operand) {
    if (operand >= 0 && !std::exchange(taken[operand], true))
      inplace[result] = operand;
  };
  auto firstWhere = [&](unsigned result, llvm::function_ref<bool(unsigned)> fits) -> int64_t {
    for (unsigned k = 0; k < count; ++k)
      if (!taken[k] && operands.isReadWhereWritten(k, result) && fits(k))
        return k;
    return -1;
  };
  // Results that are the next state of an operand take its buffer; the others choose from what is
  // left.
  for (unsigned i = 0; i < fused.getNumResults(); ++i)
    if (Value state = stateOf(fused.getResult(i), aliased))
      overwrite(i,
                firstWhere(i, [&](unsigned k) { return originOf(fused.getInputs()[k]) == state; }));
  for (unsigned i = 0; i < fused.getNumResults(); ++i)
    if (inplace[i] < 0)
      overwrite(i, operands.isUpdate(i) ? operands.updatedBy(i) : firstWhere(i, [&](unsigned k) {
                  return mayTake(fused.getInputs()[k], fused);
                }));
  if (llvm::any_of(inplace, [](int64_t operand) { return operand >= 0; }))
    fused.setInplace(inplace);
}

namespace {
struct MarkInplace : impl::MarkInplaceBase<MarkInplace> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      SmallVector<BlockArgument> aliased = memory::aliasedArgumentsOf(func);
      func.walk<WalkOrder::PreOrder>([&](exec::FusedOp fused) {
        mark(fused, aliased);
        return WalkResult::skip(); // kernels of a loop in one kernel have their marks
      });
    }
  }
};
} // namespace
} // namespace tessera
