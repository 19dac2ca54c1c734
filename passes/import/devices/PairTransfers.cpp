// A send between devices and the recv of the same channel are one permutation.
// Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "passes/import/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {
#define GEN_PASS_DEF_PAIRTRANSFERS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

struct Transfer {
  stablehlo::SendOp send;
  stablehlo::RecvOp recv;
};

LogicalResult pair(Transfer transfer) {
  auto [send, recv] = transfer;
  if (!send || !recv)
    return (send ? send.getOperation() : recv.getOperation())
        ->emitError("has no partner: between devices, one send and one recv share a channel");
  auto pairs = send.getSourceTargetPairsAttr();
  if (!pairs || pairs != recv.getSourceTargetPairsAttr())
    return recv.emitError("names other source_target_pairs than the send of its channel; both say "
                          "who sends to whom");
  if (send->getBlock() != recv->getBlock())
    return recv.emitError("is in another region than the send of its channel; put both in one");
  if (send.getInputs().getTypes() != recv->getResults().drop_back().getTypes())
    return recv.emitError("receives other types than its channel's send sends");
  Operation *later = send->isBeforeInBlock(recv) ? recv.getOperation() : send.getOperation();
  for (Operation *user : recv->getUsers())
    if (Operation *here = recv->getBlock()->findAncestorOpInBlock(*user);
        here && here != later && here->isBeforeInBlock(later))
      return recv.emitError("is read before its channel's send sends");
  OpBuilder b(later);
  for (auto [input, output] : llvm::zip(send.getInputs(), recv->getResults())) {
    auto permute = stablehlo::CollectivePermuteOp::create(b, recv.getLoc(), output.getType(), input,
                                                          pairs, send.getChannelHandleAttr());
    output.replaceAllUsesWith(permute.getResult());
  }
  Value token = send.getToken();
  send->getResult(0).replaceAllUsesWith(token);
  recv->getResults().back().replaceAllUsesWith(recv.getToken());
  send.erase();
  recv.erase();
  return success();
}

struct PairTransfersPass : impl::PairTransfersBase<PairTransfersPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      llvm::MapVector<int64_t, Transfer> channels;
      WalkResult walked = function.walk([&](Operation *op) -> WalkResult {
        if (auto send = dyn_cast<stablehlo::SendOp>(op); send && !send.getIsHostTransfer()) {
          Transfer &transfer = channels[send.getChannelHandle().getHandle()];
          if (transfer.send)
            return send.emitError("sends on a channel that another send has");
          transfer.send = send;
        }
        if (auto recv = dyn_cast<stablehlo::RecvOp>(op); recv && !recv.getIsHostTransfer()) {
          Transfer &transfer = channels[recv.getChannelHandle().getHandle()];
          if (transfer.recv)
            return recv.emitError("receives on a channel that another recv has");
          transfer.recv = recv;
        }
        return WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return signalPassFailure();
      for (auto &[channel, transfer] : channels)
        if (failed(pair(transfer)))
          return signalPassFailure();
    }
  }
};

} // namespace
} // namespace tessera
