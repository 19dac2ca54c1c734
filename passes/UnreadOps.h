// Erasing what nothing reads and what has no other effect.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {

// Erases those of `ops` that nothing reads, and in turn what only they have read. Each is shown to
// `mayErase` just before; one that may not be stays, and so does what it reads.
inline void eraseUnread(
    llvm::ArrayRef<mlir::Operation *> ops,
    llvm::function_ref<bool(mlir::Operation *)> mayErase = [](auto *) { return true; }) {
  llvm::SetVector<mlir::Operation *> work(ops.begin(), ops.end());
  while (!work.empty()) {
    mlir::Operation *last = work.pop_back_val();
    if (!mlir::isOpTriviallyDead(last) || !mayErase(last))
      continue;
    for (mlir::Value operand : last->getOperands())
      if (mlir::Operation *def = operand.getDefiningOp())
        work.insert(def);
    last->erase();
  }
}

// The same of all ops of a block, those inside of others too.
inline void eraseUnread(mlir::Block &block) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (mlir::isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (mlir::Region &region : op.getRegions())
      for (mlir::Block &inner : region)
        eraseUnread(inner);
  }
}

} // namespace tessera
