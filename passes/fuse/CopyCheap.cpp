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

static int64_t bytesOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? byteSize(tensor) : 0;
}

// Whether the op of a block outside computes what costs little beside its array: of its operands, those stay
// that are a sixteenth of it at most.
static bool isCheapForItsSize(Operation *op) {
  constexpr size_t most = 32; // ops
  constexpr int64_t small = 16;
  int64_t bytes = bytesOf(op->getResult(0));
  SmallVector<Operation *> work{op};
  for (size_t i = 0; i < work.size(); ++i) {
    NodeKind kind = fusionKindOf(work[i]);
    bool isElementwise = kind == NodeKind::Constant || kind == NodeKind::Pointwise ||
                         kind == NodeKind::Convert || kind == NodeKind::Broadcast ||
                         kind == NodeKind::Reshape;
    if (!isElementwise || isExpensive(work[i]) || work.size() > most)
      return false;
    for (Value operand : work[i]->getOperands()) {
      if (bytesOf(operand) * small <= bytes)
        continue;
      if (Operation *def = operand.getDefiningOp(); !def)
        return false;
      else if (!llvm::is_contained(work, def))
        work.push_back(def);
    }
  }
  return true;
}

using Choice = llvm::function_ref<bool(Operation *)>;

// Values of outer blocks that are `chosen` are made again in the block that uses them.
static int copyInto(Block &block, Choice chosen) {
  DenseMap<Operation *, Operation *> copies;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    SmallVector<OpOperand *> work;
    for (OpOperand &operand : op.getOpOperands())
      work.push_back(&operand);
    while (!work.empty()) {
      OpOperand *operand = work.pop_back_val();
      Operation *def = operand->get().getDefiningOp();
      if (!def || def->getBlock() == &block || !chosen(def))
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
  return static_cast<int>(copies.size());
}

void fuse::copyCheap(ModuleOp module) {
  module.walk([](Operation *op) {
    if (isa<WhileOp, CaseOp>(op))
      for (Region &region : op->getRegions())
        copyInto(region.front(), isCheap);
  });
}

// What is small beside a value stays; what is cheap anyway comes by `copyCheap`.
int fuse::copyIntoLoops(ModuleOp module) {
  constexpr int64_t least = 4096; // bytes
  int count = 0;
  module.walk([&](WhileOp loop) {
    count += copyInto(loop.getBody().front(), [&](Operation *def) {
      return bytesOf(def->getResult(0)) >= least && !isCheap(def) && isCheapForItsSize(def);
    });
  });
  return count;
}

namespace {
struct CopyCheap : impl::CopyCheapBase<CopyCheap> {
  void runOnOperation() override { fuse::copyCheap(getOperation()); }
};
} // namespace
} // namespace tessera
