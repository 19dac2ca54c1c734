// What a step takes with all values sharded in a given way, on one mesh. What is found out about an op
// or a reshard holds for all assignments.
#pragma once

#include "lib/plan/SharedCopies.h"

#include <unordered_map>

namespace tessera::plan {

// A value that is brought from one sharding to another for an op, or by it.
struct Movement {
  int32_t op, value;
  double times; // in a step
  sharding::TensorSharding from, to;
  Leg leg = Leg::Brought;
  bool restores = false; // for the next step, where that takes it
};

// What the seconds of a step are made of, whatever the weights are.
struct StepParts {
  double computing = 0;     // of the device
  std::vector<double> byOp; // of that, of each op
  double crossing = 0;      // of links that carry rows across shards within ops
  MovingTime moving;
  // Of all: what the step gives is brought where the next one takes it, which the device program leaves to that.
  double restoring = 0;
  std::vector<Movement> movements;
};

class AssignmentPrices {
public:
  // All are kept by reference.
  AssignmentPrices(const Program &program, const sharding::Mesh &mesh,
                   const cost::Topology &topology);
  AssignmentPrices(const Program &program, const sharding::Mesh &mesh,
                   cost::Topology &&topology) = delete;
  AssignmentPrices(const AssignmentPrices &) = delete;

  // Of each op, in order, the way to compute it that resharding chooses, and what moves to it and from
  // it: values that were brought somewhere for an op before are found there. Where values lie as their
  // candidates do, ways are those of the search's tables, so that no sum is below what the search proves.
  // With `into`, of what it is made. Weighted: all of it counts once until setWeights.
  double seconds(const Assignment &assignment, StepParts *into = nullptr);

  // What computing takes at least, of all ways that the search knows: what moves left out.
  double leastComputing() const;

  // The most that a device holds at one time, of the assignment that was priced last: copies that ops
  // read elsewhere than values lie, and what is made before it is reduced or moved, included.
  double peakBytes(const Assignment &assignment) const;

  // The same where copies that lie idle between two of their readers may be given up and brought again: a
  // weight's between the forward and the backward pass. As many are as that many bytes ask for, the
  // cheapest first; all, where they ask for more.
  struct Fitted {
    double bytes = 0, seconds = 0; // at the peak; of bringing again
  };
  Fitted fitted(const Assignment &assignment, double capacity);

  // Of the assignment that was priced last: what was read where by ops whose values lie as candidates do.
  const Uses &getUses() const { return uses; }

  // What was made of the tables before (Rounds) is invalid.
  void setWeights(const Weights &weights);

  const Program &getProgram() const { return tables.program; }
  sharding::ReshardPlanner &getPlanner() { return tables.planner; }
  MeshTables &getTables() { return tables; }

private:
  struct Carried {
    int32_t tensor; // of the op's operands, then results
    double times;
    sharding::TensorSharding from, to;
    Leg leg;
  };
  struct Priced {
    OpWork work;                          // not weighted
    double seconds = 0;                   // weighted, with what is carried
    llvm::SmallVector<int32_t, 4> needed; // of each operand, the sharding's number
    llvm::SmallVector<int32_t, 2> made;   // of each result
    std::vector<Carried> carried;
  };

  struct Holding;
  Holding holding(const Assignment &assignment) const;
  double moving(int32_t value, const sharding::TensorSharding &from,
                const sharding::TensorSharding &to, Leg leg = Leg::Brought);
  void note(const Movement &movement);
  void carry(Priced &into, int32_t value, int32_t tensor, double times,
             const sharding::TensorSharding &from, const sharding::TensorSharding &to,
             Leg leg = Leg::Brought);
  double ofOp(int32_t op, const Assignment &assignment);
  Priced ofMove(int32_t op, const Assignment &assignment);
  double noted(int32_t op, const Priced &priced);
  const Priced &ofRuled(int32_t op, const Assignment &assignment);
  sharding::FactorAxes chooseAxes(int32_t op, const sharding::PlacedOp &placed);
  double timesThere(int32_t value, int32_t needed) const;
  double timesBrought(int32_t op, llvm::ArrayRef<int32_t> needed, size_t operand) const;

  const Program &program;
  MeshTables tables;
  void findKinds();
  std::vector<int32_t> kindOf; // of each op: those of one kind take as long, sharded alike
  std::unordered_map<std::string, Priced> known;
  struct Copy {
    int32_t number; // of its sharding
    double times;   // that it was brought
  };
  // Of one assignment: of each value its sharding's number, and to which shardings it was brought.
  Uses uses;
  std::vector<llvm::SmallVector<int32_t, 2>> made; // by op
  std::vector<int32_t> numbers;
  std::vector<llvm::SmallVector<Copy, 2>> copies;
  StepParts *parts = nullptr; // where they are asked for
};

} // namespace tessera::plan
