// What a program's values and ops can be on one mesh, and what each way takes: made once for the search
// and for the prices of assignments.
#pragma once

#include "lib/plan/OpTable.h"
#include "lib/plan/States.h"

namespace tessera::plan {

class MeshTables {
public:
  // All are kept by reference.
  MeshTables(const Program &program, const sharding::Mesh &mesh, const cost::Topology &topology);
  MeshTables(const Program &program, sharding::Mesh &&mesh,
             const cost::Topology &topology) = delete;
  MeshTables(const MeshTables &) = delete;

  const Program &program;
  Weights weights;
  sharding::ReshardPlanner planner;
  LayoutLists lists;
  ReshardPrices prices;
  mutable OpTables ops;

  // By value: the list of its candidates, and its vertex. Values that lie alike are one vertex: members
  // of a group, and what the program takes and gives back in its place. -1: any device can make it for
  // itself.
  std::vector<int32_t> listOf, vertexOf;
  std::vector<int32_t> vertexLists; // by vertex: that of its values
  // What the program takes, and gives back in its place for the next step.
  std::vector<State> states;

  const OpTable &of(int32_t op) const {
    if (!ofOp[op])
      ofOp[op] = &ops.of(op, listOf);
    return *ofOp[op];
  }

  // Of an op whether the value of an operand, or a result, may have to be moved.
  bool isMoved(int32_t value) const {
    return !program.graph.values[value].free && !program.graph.values[value].shape.empty();
  }

  Moving movingOf(int32_t value, Leg leg) const { return plan::movingOf(program, value, leg); }

  // All that was made by other weights is invalid.
  void setWeights(const Weights &now);

private:
  void uniteValues();

  mutable std::vector<const OpTable *> ofOp; // null: not asked for yet
};

} // namespace tessera::plan
