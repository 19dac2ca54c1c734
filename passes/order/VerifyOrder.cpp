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
  if (isa<comm::StartOp, comm::StartTransferOp>(op)) {
    Value handle = op->getResults().back();
    if (!handle.hasOneUse())
      return op->emitOpError("needs exactly one comm.wait on its handle");
    Operation *wait = *handle.user_begin();
    if (!isa<comm::WaitOp>(wait) || wait->getBlock() != op->getBlock())
      return op->emitOpError("needs its comm.wait in the same block");
    for (Value output : op->getResults().drop_back())
      for (Operation *user : output.getUsers())
        if (user != wait)
          return user->emitOpError("reads the result of a collective before its comm.wait");
    return WalkResult::advance();
  }
  auto transfer = dyn_cast<comm::TransferOp>(op); // one that repeats what it copies stays whole
  if (isa<comm::CommDialect>(op->getDialect()) && !isa<comm::WaitOp, comm::AxisIndexOp>(op) &&
      !(transfer && transfer.getInput().getType() != transfer.getOutput().getType() &&
        !transfer.getIndex()))
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
