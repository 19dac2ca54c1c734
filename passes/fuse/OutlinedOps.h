// Ops of a block that become one kernel with products in it: those between the products, what their
// operands are read through, and what only moves or narrows the results.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::fuse {

class OutlinedOps {
public:
  explicit OutlinedOps(mlir::Block &block) : block(block) {}

  // What may stand between two products.
  static bool isBetween(mlir::Operation *op);
  // What costs little where it is read.
  static bool isCheap(mlir::Operation *op);

  mlir::Operation *inBlock(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op && op->getBlock() == &block ? op : nullptr;
  }
  bool isInside(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op && inside.contains(op);
  }

  // What an operand is read through: it is computed for every chunk of the other's.
  void addPrologue(mlir::Value value);
  // A result of a product of which operand `side` is computed inside; what only moves it goes along.
  void addResult(stablehlo::DotGeneralOp product, unsigned side, mlir::Value result);
  void addResult(mlir::Value result) { results.push_back({result, {}}); }

  // The kernel, at the builder's place; nothing reads it yet.
  exec::FusedOp outline(mlir::OpBuilder &b, mlir::Location loc) const;
  // What the kernel yields in the place of the ops, which are erased where nothing else reads them.
  // Ops that put it into the program's order are made at the builder's place.
  void replaceWith(mlir::OpBuilder &b, mlir::ValueRange yielded);
  // Whether an input of the kernel is computed of one of its results. Asked where the block's ops stand
  // in order.
  bool isCircular() const;

  mlir::Block &block;
  llvm::SetVector<mlir::Operation *> inside;
  // Those which move results to where others inside read them; what else reads them stays, and reads
  // the kernel's results.
  llvm::DenseSet<mlir::Operation *> ofResults;
  struct Result {
    mlir::Value value;
    llvm::SmallVector<int64_t> order; // of the kernel's dimensions; empty: as the program has them
  };
  llvm::SmallVector<Result, 3> results;

private:
  llvm::SmallVector<mlir::Operation *> sorted() const;
  std::optional<int64_t> elementsOf(stablehlo::DotGeneralOp product, unsigned side,
                                    mlir::Value result) const;
};

// An op that nothing reads, before another one: a place that stays while ops around it go.
mlir::Operation *markBefore(mlir::Operation &op);

// Ops that are made at the end of a block, and then put before what reads them; those that nothing
// reads are erased.
class AtEnd {
public:
  explicit AtEnd(mlir::Block &block);
  ~AtEnd();
  AtEnd(const AtEnd &) = delete;
  mlir::OpBuilder builder;

private:
  mlir::Operation *mark;
};

} // namespace tessera::fuse
