// A collective on what a loop does not change gives the same in every round. Passes.td shows an example.
#include "passes/communicate/Passes.h"

#include "dialects/comm/Collective.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"

namespace tessera {
#define GEN_PASS_DEF_HOISTCOLLECTIVES
#include "passes/communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::communicate {
namespace {

// What is hoisted is held for all of the loop: half of what that carries, or what any device has
// room for.
constexpr int64_t kShareOfCarried = 2, kAnyway = int64_t{1} << 20;

// What `value` is outside of the loop when no round changes it, else null.
Value outside(Value value, stablehlo::WhileOp loop) {
  Region &body = loop.getBody();
  if (!body.isAncestor(value.getParentRegion()))
    return value;
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg || arg.getOwner() != &body.front())
    return {};
  unsigned i = arg.getArgNumber();
  return body.front().getTerminator()->getOperand(i) == value ? loop->getOperand(i) : Value();
}

void hoistFrom(stablehlo::WhileOp loop) {
  if (getTripCount(loop).value_or(0) < 2)
    return;
  int64_t budget = 0;
  for (Type type : loop->getResultTypes())
    budget += comm::tensorBytes(type);
  budget = std::max(budget / kShareOfCarried, kAnyway);
  for (Operation &op : llvm::make_early_inc_range(loop.getBody().front())) {
    std::optional<comm::CollectiveFacts> facts = comm::collectiveFacts(&op);
    if (!facts || isa<comm::StartOp>(op))
      continue;
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(outside(operand, loop));
    int64_t bytes = 0;
    for (Type type : op.getResultTypes())
      bytes += comm::tensorBytes(type);
    if (llvm::is_contained(operands, Value()) || bytes > budget)
      continue;
    budget -= bytes;
    op.moveBefore(loop);
    op.setOperands(operands);
  }
}

struct HoistCollectives : impl::HoistCollectivesBase<HoistCollectives> {
  void runOnOperation() override { // inner loops first, so that what leaves them can go on
    getOperation().walk([](stablehlo::WhileOp loop) { hoistFrom(loop); });
  }
};

} // namespace
} // namespace tessera::communicate
