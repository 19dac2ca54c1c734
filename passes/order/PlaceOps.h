// Puts the ops of a block into an order.
#pragma once

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::order {

class OpPlacer {
public:
  explicit OpPlacer(mlir::Block &block);

  // Behind all that were placed before, with the views and constants that it is the first to read.
  void place(mlir::Operation *op);
  // The same for what is made at `builder` from the op, which is not moved.
  void placeViews(mlir::Operation *op);

  mlir::OpBuilder builder; // where the next op goes

private:
  void placeView(mlir::Value operand);

  mlir::Block &block;
  mlir::Operation *end;
  llvm::DenseSet<mlir::Operation *> placed;
};

} // namespace tessera::order
