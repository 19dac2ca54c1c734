#include "passes/fuse/EarlySums.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/BlockGraph.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;

// Whether the op only converts or moves an array, and only one op reads it.
static bool isStep(Operation *op) {
  return isa<ConvertOp, ReshapeOp, TransposeOp>(op) && op->hasOneUse();
}

// The value's sum with an array that the loop carries; which operand is added.
static std::optional<unsigned> addedTo(AddOp sum, Block &body) {
  if (!sum->hasOneUse() || *sum->user_begin() != body.getTerminator())
    return std::nullopt;
  for (unsigned i : {0u, 1u})
    if (auto carried = dyn_cast<BlockArgument>(sum->getOperand(i));
        carried && carried.getOwner() == &body && carried.hasOneUse())
      return 1 - i;
  return std::nullopt;
}

static bool moveEarly(AddOp sum, unsigned added) {
  SmallVector<Operation *> chain{sum};
  Operation *source = sum->getOperand(added).getDefiningOp();
  while (source && source->getBlock() == sum->getBlock() && isStep(source)) {
    chain.push_back(source);
    source = source->getOperand(0).getDefiningOp();
  }
  if (!source || source->getBlock() != sum->getBlock())
    return false;
  bool isThere = true;
  for (Operation *op : llvm::reverse(chain)) {
    isThere &= source->getNextNode() == op;
    op->moveAfter(source);
    source = op;
  }
  return !isThere;
}

int addEarly(ModuleOp module) {
  int moved = 0;
  module.walk([&](WhileOp loop) {
    Block &body = loop.getBody().front();
    for (AddOp sum : llvm::make_early_inc_range(body.getOps<AddOp>()))
      if (std::optional<unsigned> added = addedTo(sum, body))
        moved += moveEarly(sum, *added);
  });
  return moved;
}

} // namespace tessera::fuse
