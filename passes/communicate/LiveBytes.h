// How much of a block's values is there at once: a count ahead of fusion and order, by the program's
// order, at products, collectives and loops. What becomes part of a kernel counts for nothing.
#pragma once

#include "lib/fusion/FusionGraph.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::communicate {

// Whether results of such ops are views of operands, or are computed again by who reads them.
bool becomesNoArray(fusion::NodeKind kind);

class LiveBytes {
public:
  explicit LiveBytes(mlir::ModuleOp module);

  // Of the op's block: at its fullest place, and how much less is there at the op. Nothing is left at
  // ops that have come since.
  double peak(mlir::Operation *op) const { return peaks.lookup(op->getBlock()); }
  double room(mlir::Operation *op) const;

private:
  void measure(mlir::Block &block);

  llvm::DenseMap<mlir::Operation *, double> live;
  llvm::DenseMap<mlir::Block *, double> peaks;
};

} // namespace tessera::communicate
