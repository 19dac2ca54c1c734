// Makes splats, iotas and broadcasts again in the loops and branches that read them from outside, before
// any value is put in memory for them. Passes.td shows an example.
#include "passes/fuse/CopyCheap.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_COPYCHEAP
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;
using fusion::NodeKind;

// What costs less where it is used than to be read from memory there.
static bool isCheap(Operation *op) {
  NodeKind kind = fusionKindOf(op);
  return kind == NodeKind::Constant ||
         (kind == NodeKind::Broadcast &&
          typeOf(op->getOperand(0)).getNumElements() < typeOf(op->getResult(0)).getNumElements());
}

// Cheap values of outer blocks are made again in the block that uses them.
static void copyCheapInto(Block &block) {
  DenseMap<Operation *, Operation *> copies;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    SmallVector<OpOperand *> work;
    for (OpOperand &operand : op.getOpOperands())
      work.push_back(&operand);
    while (!work.empty()) {
      OpOperand *operand = work.pop_back_val();
      Operation *def = operand->get().getDefiningOp();
      if (!def || def->getBlock() == &block || !isCheap(def))
        continue;
      Operation *&copy = copies[def];
      if (!copy) {
        copy = OpBuilder(operand->getOwner()).clone(*def);
        for (OpOperand &inner : copy->getOpOperands())
          work.push_back(&inner);
      }
      operand->set(copy->getResult(0));
    }
  }
}

void fuse::copyCheap(ModuleOp module) {
  module.walk([](Operation *op) {
    if (isa<WhileOp, CaseOp>(op))
      for (Region &region : op->getRegions())
        copyCheapInto(region.front());
  });
}

namespace {
struct CopyCheap : impl::CopyCheapBase<CopyCheap> {
  void runOnOperation() override { fuse::copyCheap(getOperation()); }
};
} // namespace
} // namespace tessera
