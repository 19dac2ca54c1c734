// Arrays that a reshape shows in another shape: one piece of memory.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera {

// What lies behind views.
inline mlir::Value originOf(mlir::Value value) {
  while (auto view = value.getDefiningOp<stablehlo::ReshapeOp>())
    value = view.getOperand();
  return value;
}

// Whether no other op of `op`'s block reads `array`, or a view of it, after `op`, and none outside of it.
inline bool isReadLastBy(mlir::Value array, mlir::Operation *op) {
  llvm::SmallVector<mlir::Value> work{array};
  while (!work.empty())
    for (mlir::Operation *user : work.pop_back_val().getUsers()) {
      if (mlir::isa<stablehlo::ReshapeOp>(user)) {
        work.push_back(user->getResult(0));
        continue;
      }
      mlir::Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
      if (!here || (here != op && op->isBeforeInBlock(here)))
        return false;
    }
  return true;
}

} // namespace tessera
