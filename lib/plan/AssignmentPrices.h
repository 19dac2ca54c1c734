// What a step takes with all values sharded in a given way, on one mesh. What is found out about an op
// or a reshard holds for all assignments.
#pragma once

#include "lib/plan/OpTable.h"

#include <unordered_map>

namespace tessera::plan {

class AssignmentPrices {
public:
  // All are kept by reference.
  AssignmentPrices(const Program &program, const sharding::Mesh &mesh,
                   const cost::Topology &topology);
  AssignmentPrices(const AssignmentPrices &) = delete;

  // Of each op the cheapest way to compute it, as resharding decides it, and what moves to it and
  // from it. The sum that a search makes least.
  double seconds(const Assignment &assignment);

  const Program &getProgram() const { return program; }
  sharding::ReshardPlanner &getPlanner() { return planner; }

private:
  struct Priced {
    double seconds = 0;
    std::vector<sharding::TensorSharding> needed; // of each operand
  };

  double moving(int32_t value, const sharding::TensorSharding &from,
                const sharding::TensorSharding &to);
  double ofOp(int32_t op, const Assignment &assignment);
  double ofMove(int32_t op, const Assignment &assignment);
  Priced ofRuled(int32_t op, const Assignment &assignment);
  bool isThere(int32_t value, const sharding::TensorSharding &needed,
               const Assignment &assignment) const;

  const Program &program;
  sharding::ReshardPlanner planner;
  LayoutLists lists;
  ReshardPrices prices;
  OpTables tables;
  std::vector<int32_t> kindOf; // of each op: those of one kind take as long, sharded alike
  std::unordered_map<std::string, Priced> known;
  // Of one assignment: to which shardings each value was brought. Who needs it so again finds it
  // there.
  std::vector<llvm::SmallVector<sharding::TensorSharding, 1>> copies;
};

} // namespace tessera::plan
