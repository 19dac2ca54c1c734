// What later phases rely on: no collective but as start and wait, one wait for each start, in the
// same block.
#include "dialects/comm/CommOps.h"
#include "dialects/tessera/KnownAttributes.h"
#include "passes/order/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_VERIFYORDER
#include "passes/order/Passes.h.inc"

using namespace mlir;

static WalkResult check(Operation *op) {
  if (auto start = dyn_cast<comm::StartOp>(op)) {
    if (!start.getHandle().hasOneUse())
      return op->emitOpError("needs exactly one comm.wait on its handle");
    Operation *wait = *start.getHandle().user_begin();
    if (!isa<comm::WaitOp>(wait) || wait->getBlock() != op->getBlock())
      return op->emitOpError("needs its comm.wait in the same block");
    for (Value output : start.getOutputs())
      for (Operation *user : output.getUsers())
        if (user != wait)
          return user->emitOpError("reads the result of a collective before its comm.wait");
    return WalkResult::advance();
  }
  if (isa<comm::CommDialect>(op->getDialect()) && !isa<comm::WaitOp, comm::AxisIndexOp>(op))
    return op->emitOpError(
        "is not split into comm.start and comm.wait; run --tessera-overlap-collectives");
  return WalkResult::advance();
}

namespace {
struct VerifyOrder : impl::VerifyOrderBase<VerifyOrder> {
  void runOnOperation() override {
    if (failed(verifyAttributes(getOperation())))
      return signalPassFailure();
    if (getOperation()->walk(check).wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
} // namespace tessera
