// The ways that propagation may go, of which passes/propagate/PropagateShardings.cpp takes the best, on
// plain data.
#pragma once

#include "lib/plan/DecisiveValues.h"
#include "lib/sharding/ConflictCost.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

class PropagationWays {
public:
  // All are kept by reference.
  PropagationWays(const plan::Program &program, mlir::func::FuncOp main, const sharding::Mesh &mesh,
                  const cost::Topology &topology);
  PropagationWays(const PropagationWays &) = delete;

  const std::vector<plan::Way> &all() const { return ways; }

private:
  bool postponeState(sharding::PropagationGraph &graph) const;

  sharding::ConflictCost conflictCost;
  std::vector<std::pair<int32_t, int32_t>> state; // arguments, and results of their types
  std::vector<plan::Way> ways;
};

} // namespace tessera
