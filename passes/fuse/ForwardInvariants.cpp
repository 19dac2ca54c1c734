// What a loop carries without changing it is read from outside instead, so that constants are seen
// as such and nothing has to be put in memory for being carried. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/CarriedValues.h"
#include "passes/fuse/Passes.h"

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
  if (constant.any())
    fuse::eraseCarried(loop, constant);
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
