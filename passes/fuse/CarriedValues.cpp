#include "passes/fuse/CarriedValues.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using tessera::stablehlo::WhileOp;

namespace tessera::fuse {

void eraseCarried(WhileOp loop, const llvm::BitVector &dropped) {
  Block &condition = loop.getCond().front(), &body = loop.getBody().front();
  OpBuilder b(loop);
  OperationState state(loop.getLoc(), WhileOp::getOperationName());
  SmallVector<Value> kept;
  for (unsigned i = 0; i < loop->getNumOperands(); ++i)
    if (!dropped[i]) {
      state.addOperands(loop->getOperand(i));
      state.addTypes(loop->getResult(i).getType());
      kept.push_back(loop->getResult(i));
    }
  state.addAttributes(loop->getAttrs());
  llvm::SetVector<Operation *> next;
  for (unsigned i : dropped.set_bits())
    if (Operation *def = body.getTerminator()->getOperand(i).getDefiningOp();
        def && def->getBlock() == &body)
      next.insert(def);
  body.getTerminator()->eraseOperands(dropped);
  for (Operation *def : next)
    if (isOpTriviallyDead(def))
      def->erase();
  body.eraseArguments(dropped);
  condition.eraseArguments(dropped);
  state.addRegion()->takeBody(loop.getCond());
  state.addRegion()->takeBody(loop.getBody());
  Operation *made = b.create(state);
  for (auto [from, to] : llvm::zip(kept, made->getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
}

} // namespace tessera::fuse
