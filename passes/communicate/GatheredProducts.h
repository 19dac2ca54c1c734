// The products that read an all-gather's result, and the ring that makes them without it.
#pragma once

#include "passes/communicate/ProductDims.h"
#include "passes/communicate/RingLoop.h"

namespace tessera::communicate {

struct GatheredProduct {
  stablehlo::DotGeneralOp dot;
  unsigned operand;                            // that is the gathered value
  llvm::SmallVector<mlir::Operation *, 2> way; // conversions, transposes and cuts on the way to it
  int64_t dim;                                 // of the operand, that is gathered
  int64_t rows;                                // of it; the tiles may hold more
  int64_t tiled;                               // what the tiles hold
  OperandDim place;

  mlir::Value other() const { return dot->getOperand(1 - operand); }
  // Whether the other operand is read at rows that it does not have.
  bool needsRoom() const { return place.role != OperandDim::Free && rows < tiled; }
};

class GatheredProducts {
public:
  // Those that `accepts` and that can be made at the same time, each without another.
  GatheredProducts(comm::AllGatherOp gather,
                   llvm::function_ref<bool(const GatheredProduct &)> accepts);

  std::vector<GatheredProduct> products;
  bool keepsWhole = false; // someone else reads the gathered value

  // Behind the last of them. Gives pairs of old and new values.
  using Replaced = llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>;
  Replaced makeRing(const Ring &ring);
  // What is not read any more vanishes.
  void replaceAll(const Replaced &values, llvm::function_ref<void(mlir::Operation *)> erasing);

private:
  struct Way;
  void follow(mlir::Value value, const Way &way);
  void chooseIndependent();
  mlir::Value shardOf(RowOps &ops, const GatheredProduct &product, mlir::Value rows) const;
  mlir::Value take(RowOps &ops, const GatheredProduct &product, mlir::Value other, mlir::Value rows,
                   mlir::Value start, mlir::Value taken) const;

  comm::AllGatherOp gather;
  llvm::function_ref<bool(const GatheredProduct &)> accepts;
};

// Erases a product or collective and what only it has read, as far as nothing needs it; not other
// collectives.
void eraseReplaced(mlir::Operation *op, llvm::function_ref<void(mlir::Operation *)> erasing);

} // namespace tessera::communicate
