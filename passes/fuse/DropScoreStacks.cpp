// A loop over layers that puts away its attention's probabilities for the loop that goes back: that one
// computes them again from queries and keys, where its gradient then is a kernel that does so anyway.
// Passes.td shows an example.
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "lib/fusion/AttentionStays.h"
#include "passes/fuse/FormAttentionGradient.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/RematStacks.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera {
#define GEN_PASS_DEF_DROPSCORESTACKS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;

static unsigned gradientsIn(ModuleOp module) {
  unsigned formed = 0;
  module.walk([&](stablehlo::WhileOp loop) {
    fuse::ReasonsAgainst reasons;
    formed += fuse::formAttentionGradients(loop.getBody().front(), reasons);
  });
  return formed;
}

namespace {
struct DropScoreStacks : impl::DropScoreStacksBase<DropScoreStacks> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (fuse::Stacks(module).ofScores(fusion::leastPairs).empty())
      return;
    auto drop = [](ModuleOp from) {
      fuse::Stacks stacks(from);
      stacks.drop(stacks.ofScores(fusion::leastPairs));
    };
    OwningOpRef<ModuleOp> before = module.clone(), after = module.clone();
    drop(*after);
    if (gradientsIn(*after) > gradientsIn(*before))
      drop(module);
  }
};
} // namespace
} // namespace tessera
