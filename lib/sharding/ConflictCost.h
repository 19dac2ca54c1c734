// What an op of a propagation graph would cost with its tensors sharded in some way: the judge of
// conflicts. Threads may ask at the same time: what it knows is one's at a time.
#pragma once

#include "lib/sharding/FactorChoice.h"
#include "lib/sharding/PropagationGraph.h"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace tessera::sharding {

class ConflictCost {
public:
  // All are kept by reference: one planner a mesh.
  ConflictCost(const PropagationGraph &graph, llvm::ArrayRef<const Mesh *> meshes,
               const cost::Topology &topology);

  // Seconds of `op` with its tensors (operands, then results) sharded so, on the graph's mesh
  // `mesh`: the cheapest way to compute it, and the bytes that a device holds of them read and
  // written once.
  double seconds(int32_t op, int32_t mesh, llvm::ArrayRef<TensorSharding> tensors);

private:
  std::string keyOf(const PropagatedOp &op, int32_t mesh,
                    llvm::ArrayRef<TensorSharding> tensors) const;
  double find(const PropagatedOp &op, int32_t mesh, llvm::ArrayRef<TensorSharding> tensors);

  const PropagationGraph &graph;
  std::mutex mutex; // of what follows
  std::vector<std::unique_ptr<ReshardPlanner>> planners;
  std::unordered_map<std::string, double> known; // equal ops of equal layers cost the same
};

} // namespace tessera::sharding
