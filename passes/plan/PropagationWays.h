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

  // Of one type: a step's state is an argument, and a result that lies like it.
  struct Signature {
    llvm::SmallVector<int32_t, 0> arguments, results;
  };

  sharding::ConflictCost conflictCost;
  std::vector<Signature> state;
  std::vector<plan::Way> ways;
};

} // namespace tessera
