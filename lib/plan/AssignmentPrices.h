// What a step takes with all values sharded in a given way, on one mesh. What is found out about an op
// or a reshard holds for all assignments.
#pragma once

#include "lib/plan/OpTable.h"

#include <unordered_map>

namespace tessera::plan {

// A value that is brought from one sharding to another for an op, or by it.
struct Movement {
  int32_t op, value;
  double times; // in a step
  sharding::TensorSharding from, to;
};

// What the seconds of a step are made of.
struct StepParts {
  double computing = 0; // and rows that cross shards within ops
  std::vector<Movement> movements;
};

class AssignmentPrices {
public:
  // All are kept by reference.
  AssignmentPrices(const Program &program, const sharding::Mesh &mesh,
                   const cost::Topology &topology);
  AssignmentPrices(const AssignmentPrices &) = delete;

  // Of each op the cheapest way to compute it, as resharding decides it, and what moves to it and
  // from it. The sum that a search makes least. With `into`, of what it is made.
  double seconds(const Assignment &assignment, StepParts *into = nullptr);

  const Program &getProgram() const { return program; }
  sharding::ReshardPlanner &getPlanner() { return planner; }

private:
  struct Carried {
    int32_t tensor; // of the op's operands, then results
    double times;
    sharding::TensorSharding from, to;
  };
  struct Priced {
    double work = 0, seconds = 0;                 // without and with what is carried
    std::vector<sharding::TensorSharding> needed; // of each operand
    std::vector<Carried> carried;
  };

  double moving(int32_t value, const sharding::TensorSharding &from,
                const sharding::TensorSharding &to);
  void carry(Priced &into, int32_t value, int32_t tensor, double times,
             const sharding::TensorSharding &from, const sharding::TensorSharding &to);
  double ofOp(int32_t op, const Assignment &assignment);
  Priced ofMove(int32_t op, const Assignment &assignment);
  double noted(int32_t op, const Priced &priced);
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
  StepParts *parts = nullptr; // of it, where they are asked for
};

} // namespace tessera::plan
