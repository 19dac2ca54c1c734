// Loops whose trips begin elsewhere, where that hides collectives.
#pragma once

#include "passes/order/ProgramRules.h"

namespace tessera::order {

// What the blocks of a program take when each is ordered by its rule.
class BlockCosts {
public:
  BlockCosts(const cost::Topology &topology, const sdy::MeshTable &meshes, Rules &rules)
      : topology(topology), meshes(meshes), rules(rules) {}

  BlockTasks tasksOf(mlir::Block &block);
  BlockCost costOf(mlir::Block &block);
  void forget(mlir::Operation *op); // before it is erased

  const cost::Topology &topology;
  const sdy::MeshTable &meshes;
  Rules &rules;

private:
  llvm::DenseMap<mlir::Block *, BlockCost> costs;
};

// Inner loops first. A loop is rotated (RotateLoop.h) at the best of its cuts (LoopCuts.h), where the
// rule has its body rather so, and a percent of its time is saved.
void rotateLoops(mlir::func::FuncOp func, BlockCosts &costs);

} // namespace tessera::order
