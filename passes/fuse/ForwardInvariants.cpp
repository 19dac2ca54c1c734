// What a loop carries without changing it is read from outside instead, so that constants are seen
// as such and nothing has to be put in memory for being carried. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_FORWARDINVARIANTS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

static void forward(WhileOp loop) {
  Block &condition = loop.getCond().front(), &body = loop.getBody().front();
  Operation *yield = body.getTerminator();
  llvm::BitVector constant(loop->getNumOperands());
  for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
    Value operand = loop->getOperand(i), argument = body.getArgument(i);
    if (yield->getOperand(i) != argument && yield->getOperand(i) != operand)
      continue;
    constant.set(i);
    argument.replaceAllUsesWith(operand);
    condition.getArgument(i).replaceAllUsesWith(operand);
    loop->getResult(i).replaceAllUsesWith(operand);
  }
  if (constant.none())
    return;
  OpBuilder b(loop);
  OperationState state(loop.getLoc(), WhileOp::getOperationName());
  SmallVector<Value> kept;
  for (unsigned i = 0; i < loop->getNumOperands(); ++i)
    if (!constant[i]) {
      state.addOperands(loop->getOperand(i));
      state.addTypes(loop->getResult(i).getType());
      kept.push_back(loop->getResult(i));
    }
  state.addAttributes(loop->getAttrs());
  yield->eraseOperands(constant);
  body.eraseArguments(constant);
  condition.eraseArguments(constant);
  state.addRegion()->takeBody(loop.getCond());
  state.addRegion()->takeBody(loop.getBody());
  Operation *made = b.create(state);
  for (auto [from, to] : llvm::zip(kept, made->getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
}

namespace {
struct ForwardInvariants : impl::ForwardInvariantsBase<ForwardInvariants> {
  void runOnOperation() override {
    // Inner loops first: what they pass on may be what an outer one passes on.
    getOperation().walk([](WhileOp loop) { forward(loop); });
  }
};
} // namespace
} // namespace tessera
