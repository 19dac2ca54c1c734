// The ways to compute one op on shards, and what each takes: made once for all ops that are equal.
#pragma once

#include "lib/plan/KernelPrices.h"
#include "lib/plan/ReshardPrices.h"
#include "lib/sharding/FactorChoice.h"

#include <memory>
#include <unordered_map>

namespace tessera::plan {

// One tensor of an op under each of the op's choices.
struct TensorChoices {
  int32_t list = -1;       // the distinct shardings
  std::vector<int32_t> at; // of each choice, its number in the list
};

struct OpTable {
  sharding::PlacedOp placed; // shapes, bytes and what is free; shardings are not set
  std::vector<sharding::FactorAxes> choices;
  // Seconds of one execution by each: weighted, with rows that cross shards; of the device, as they are.
  std::vector<double> work, computing;
  std::vector<TensorChoices> needed, made;
  // From each of a value's candidates to each of the `needed` list of the operand that it is, and from
  // each of the `made` list of a result to each candidate: seconds once. Null of what never moves.
  std::vector<const Matrix *> in, out;
  // Likewise, of each operand: what its first reader waits for beyond `in`, which is what any does. Empty where
  // that is nothing. A copy is `in` to whoever shares it, and this to that reader alone.
  std::vector<Matrix> sooner;
  // Its single result says how it is computed: of each sharding of `resultList` the choice; empty
  // where some can't be made, or an op reduces.
  std::vector<int32_t> byResult;
};

// Whether some of what it makes is a sum over others' parts, where its factors are in parts.
bool reduces(const sharding::FactorRule &rule);

// Whether an operand before this one is the same value and needed alike: it is brought there once.
bool isRepeated(const sharding::PropagatedOp &op, const OpTable &table, size_t operand);

// From where it is made to where it lies, or from there to where a reader needs it: its first, which waits
// longest for it, or any.
enum class Leg { HandedOn, BroughtFirst, Brought };

inline Leg legTo(const Program &program, int32_t op, size_t operand) {
  const llvm::SmallVector<bool, 4> &readsFirst = program.ops[op].readsFirst;
  return !readsFirst.empty() && readsFirst[operand] ? Leg::BroughtFirst : Leg::Brought;
}

inline Moving movingOf(const Program &program, int32_t value, Leg leg) {
  const ValueFacts &facts = program.values[value];
  return {facts.inKernel, leg == Leg::Brought ? facts.secondsBesideRead : facts.secondsBeside,
          facts.together};
}

// Seconds of one execution of an op: of the busiest device, and of links that carry rows across shards.
struct OpWork {
  double computing = 0, crossing = 0;
};

// Rows that cross may hide.
inline double weighted(const Weights &weights, const OpWork &work) {
  return weights.computing * work.computing + weights.hidden * work.crossing;
}

class OpTables {
public:
  // All are kept by reference.
  OpTables(const Program &program, LayoutLists &lists, ReshardPrices &prices,
           sharding::ReshardPlanner &planner, const Weights &weights)
      : program(program), lists(lists), prices(prices), planner(planner), weights(weights),
        kernels(program, planner.getTopology(), planner.getMesh()) {}

  // `valueLists`: of each value of the graph, its candidate shardings.
  const OpTable &of(int32_t op, llvm::ArrayRef<int32_t> valueLists);

  // Of one execution by these axes.
  OpWork work(int32_t op, const sharding::PlacedOp &placed, const sharding::FactorAxes &axes);

  sharding::PlacedOp place(int32_t op) const;
  // Ops of one key take the same time under the same shardings of their tensors.
  std::string keyOf(int32_t op);

  // Tables are made anew: by weights that changed.
  void forgetTables() { tables.clear(); }

private:
  double secondsOf(const OpFacts &facts, const KernelPart &part, const sharding::PlacedOp &placed,
                   const sharding::FactorAxes &axes);
  std::unique_ptr<OpTable> make(int32_t op, llvm::ArrayRef<int32_t> valueLists);
  void enumerate(OpTable &table);
  void claimAll(OpTable &table, int32_t op, llvm::ArrayRef<int32_t> valueLists);
  void collectTensors(OpTable &table, int32_t op, llvm::ArrayRef<int32_t> valueLists);
  Matrix soonerThan(const OpTable &table, int32_t op, size_t operand, int32_t list);

  const Program &program;
  LayoutLists &lists;
  ReshardPrices &prices;
  sharding::ReshardPlanner &planner;
  const Weights &weights;
  KernelPrices kernels;
  std::unordered_map<std::string, std::unique_ptr<OpTable>> tables;
};

} // namespace tessera::plan
