// Expressions whose value is known without any input: they cost nothing to repeat.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera {

// Finds ops that compute a constant from constants (constant, iota, and elementwise ops,
// broadcasts, reshapes and slices of such), and those that only spread one number (a broadcast of a
// scalar). Ask in program order.
class ConstantExpressions {
public:
  // Notes `op`, and says whether it is such an expression.
  bool add(mlir::Operation *op);
  bool contains(mlir::Operation *op) const {
    return constants.contains(op) || spreads.contains(op);
  }
  void forget(mlir::Operation *op) { constants.erase(op), spreads.erase(op); }
  bool isConstant(mlir::Operation *op) const { return constants.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> constants, spreads;
};

} // namespace tessera
