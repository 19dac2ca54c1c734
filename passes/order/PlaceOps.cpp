#include "passes/order/PlaceOps.h"

#include "dialects/exec/ExecOps.h"
#include "passes/order/BlockTasks.h"

using namespace mlir;

namespace tessera::order {

OpPlacer::OpPlacer(Block &block)
    : builder(block.getTerminator()), block(block), end(block.getTerminator()) {}

void OpPlacer::place(Operation *op) {
  placeViews(op);
  if (op != end)
    op->moveBefore(end);
}

void OpPlacer::placeView(Value operand) {
  Operation *def = operand.getDefiningOp();
  if (!def || def->getBlock() != &block || !isFree(def) || !placed.insert(def).second)
    return;
  place(def);
}

void OpPlacer::placeViews(Operation *op) {
  for (Value operand : op->getOperands())
    placeView(operand);
  if (!isa<exec::FusedOp>(op))
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          placeView(operand);
      });
}

} // namespace tessera::order
