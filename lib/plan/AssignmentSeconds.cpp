#include "lib/plan/OpTable.h"
#include "lib/plan/Search.h"
#include "lib/sharding/FactorChoice.h"
#include "llvm/ADT/STLExtras.h"

#include <unordered_map>

namespace tessera::plan {

using sharding::PropagatedOp;
using sharding::PropagatedValue;
using sharding::TensorSharding;

namespace {

class Pricer {
public:
  Pricer(const Program &program, const sharding::Mesh &mesh, const cost::Topology &topology,
         const Assignment &assignment)
      : program(program), assignment(assignment), planner(mesh, topology), lists(mesh),
        prices(lists, planner), tables(program, lists, planner) {}

  double all() {
    double seconds = 0;
    for (size_t op = 0; op < program.graph.ops.size(); ++op)
      seconds += ofOp(int32_t(op));
    for (size_t v = 0; v < program.values.size(); ++v)
      if (program.values[v].wholeTimes > 0 && !program.graph.values[v].free)
        seconds += program.values[v].wholeTimes *
                   moving(int32_t(v), assignment[v],
                          TensorSharding::replicatedOver(assignment[v].dims.size()));
    return seconds;
  }

private:
  double moving(int32_t v, const TensorSharding &from, const TensorSharding &to) {
    const PropagatedValue &value = program.graph.values[v];
    if (sameAxes(from, to))
      return 0;
    return prices.seconds(value.shape, value.elementBytes, from, to);
  }

  double ofOp(int32_t index) {
    const PropagatedOp &op = program.graph.ops[index];
    if (llvm::all_of(op.results, [&](int32_t v) { return program.graph.values[v].free; }))
      return 0;
    if (program.ops[index].moves)
      return ofMove(index);
    std::string key = tables.keyOf(index);
    for (const auto *side : {&op.operands, &op.results})
      for (int32_t v : *side)
        appendKey(key, assignment[v]);
    for (double times : program.ops[index].operandTimes)
      appendKey(key, int64_t(times));
    appendKey(key, int64_t(program.ops[index].times));
    auto [it, isNew] = known.try_emplace(std::move(key), 0);
    if (isNew)
      it->second = ofRuled(index);
    return it->second;
  }

  double ofMove(int32_t index) {
    const PropagatedOp &op = program.graph.ops[index];
    TensorSharding to = assignment[op.results[0]];
    if (op.viewed == 1)
      to = seenThrough(op.view, to);
    double seconds = 0;
    for (auto [i, v] : llvm::enumerate(op.operands)) {
      if (program.graph.values[v].free)
        continue;
      TensorSharding from = op.viewed == 0 ? seenThrough(op.view, assignment[v]) : assignment[v];
      seconds +=
          program.ops[index].operandTimes[i] *
          moving(op.viewed == 0 ? op.results[0] : v, withoutUnitAxes(from), withoutUnitAxes(to));
    }
    return seconds;
  }

  double ofRuled(int32_t index) {
    const PropagatedOp &op = program.graph.ops[index];
    const OpFacts &facts = program.ops[index];
    sharding::PlacedOp placed = tables.place(index);
    for (auto [i, v] : llvm::enumerate(op.operands)) {
      placed.operands[i].sharding = assignment[v];
      placed.operands[i].share = facts.operandTimes[i] / facts.times;
    }
    for (auto [i, v] : llvm::enumerate(op.results))
      placed.results[i].sharding = assignment[v];
    sharding::FactorAxes axes = chooseFactorAxes(placed, planner).axes;
    double seconds = facts.times * tables.work(index, placed, axes);
    for (auto [i, v] : llvm::enumerate(op.operands)) {
      TensorSharding to = axes.operandSharding(i);
      bool repeated = false; // x * x is brought there once
      for (size_t before = 0; before < i; ++before)
        repeated |= op.operands[before] == v && sameAxes(axes.operandSharding(before), to);
      if (!program.graph.values[v].free && !repeated)
        seconds += facts.operandTimes[i] * moving(v, assignment[v], to);
    }
    for (auto [i, v] : llvm::enumerate(op.results))
      seconds += facts.times * moving(v, axes.resultSharding(i), assignment[v]);
    return seconds;
  }

  const Program &program;
  const Assignment &assignment;
  sharding::ReshardPlanner planner;
  LayoutLists lists;
  ReshardPrices prices;
  OpTables tables;
  std::unordered_map<std::string, double> known;
};

} // namespace

double assignmentSeconds(const Program &program, const sharding::Mesh &mesh,
                         const cost::Topology &topology, const Assignment &assignment) {
  return Pricer(program, mesh, topology, assignment).all();
}

} // namespace tessera::plan
