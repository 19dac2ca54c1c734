#include "lib/plan/AssignmentPrices.h"

#include "lib/plan/Search.h"
#include "lib/sharding/FactorChoice.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::plan {

using sharding::PropagatedOp;
using sharding::PropagatedValue;
using sharding::TensorSharding;

AssignmentPrices::AssignmentPrices(const Program &program, const sharding::Mesh &mesh,
                                   const cost::Topology &topology)
    : program(program), planner(mesh, topology), lists(mesh), prices(lists, planner),
      tables(program, lists, planner) {
  std::unordered_map<std::string, int32_t> kinds;
  for (size_t op = 0; op < program.graph.ops.size(); ++op) {
    std::string key = tables.keyOf(int32_t(op));
    for (double times : program.ops[op].operandTimes)
      appendKey(key, int64_t(times));
    appendKey(key, int64_t(program.ops[op].times));
    kindOf.push_back(kinds.try_emplace(std::move(key), int32_t(kinds.size())).first->second);
  }
}

double AssignmentPrices::seconds(const Assignment &assignment) {
  copies.assign(program.graph.values.size(), {});
  double seconds = 0;
  for (size_t op = 0; op < program.graph.ops.size(); ++op)
    seconds += ofOp(int32_t(op), assignment);
  for (size_t v = 0; v < program.values.size(); ++v)
    if (program.values[v].wholeTimes > 0 && !program.graph.values[v].free)
      seconds += program.values[v].wholeTimes *
                 moving(int32_t(v), assignment[v],
                        TensorSharding::replicatedOver(assignment[v].dims.size()));
  return seconds;
}

double AssignmentPrices::moving(int32_t v, const TensorSharding &from, const TensorSharding &to) {
  const PropagatedValue &value = program.graph.values[v];
  if (sameAxes(from, to))
    return 0;
  return prices.seconds(value.shape, value.elementBytes, from, to);
}

double AssignmentPrices::ofOp(int32_t index, const Assignment &assignment) {
  const PropagatedOp &op = program.graph.ops[index];
  if (llvm::all_of(op.results, [&](int32_t v) { return program.graph.values[v].free; }))
    return 0;
  if (program.ops[index].moves)
    return ofMove(index, assignment);
  std::string key;
  appendKey(key, int64_t(kindOf[index]));
  for (const auto *side : {&op.operands, &op.results})
    for (int32_t v : *side)
      appendKey(key, assignment[v]);
  for (int32_t v : op.operands) {
    appendKey(key, int64_t(copies[v].size()));
    for (const TensorSharding &copy : copies[v])
      appendKey(key, copy);
  }
  auto [it, isNew] = known.try_emplace(std::move(key));
  if (isNew)
    it->second = ofRuled(index, assignment);
  for (auto [v, needed] : llvm::zip_equal(op.operands, it->second.needed))
    if (!program.graph.values[v].free && !isThere(v, needed, assignment))
      copies[v].push_back(needed);
  return it->second.seconds;
}

// Where it was made, or brought for an op before.
bool AssignmentPrices::isThere(int32_t v, const TensorSharding &needed,
                               const Assignment &assignment) const {
  return sameAxes(assignment[v], needed) ||
         llvm::any_of(copies[v],
                      [&](const TensorSharding &copy) { return sameAxes(copy, needed); });
}

double AssignmentPrices::ofMove(int32_t index, const Assignment &assignment) {
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

AssignmentPrices::Priced AssignmentPrices::ofRuled(int32_t index, const Assignment &assignment) {
  const PropagatedOp &op = program.graph.ops[index];
  const OpFacts &facts = program.ops[index];
  sharding::PlacedOp placed = tables.place(index);
  for (auto [i, v] : llvm::enumerate(op.operands)) {
    placed.operands[i].sharding = assignment[v];
    placed.operands[i].copies.assign(copies[v].begin(), copies[v].end());
    placed.operands[i].share = facts.operandTimes[i] / facts.times;
  }
  for (auto [i, v] : llvm::enumerate(op.results))
    placed.results[i].sharding = assignment[v];
  sharding::FactorAxes axes = chooseFactorAxes(placed, planner).axes;
  Priced priced{facts.times * tables.work(index, placed, axes), {}};
  for (auto [i, v] : llvm::enumerate(op.operands)) {
    priced.needed.push_back(axes.operandSharding(i));
    const TensorSharding &to = priced.needed.back();
    bool repeated = false; // x * x is brought there once
    for (size_t before = 0; before < i; ++before)
      repeated |= op.operands[before] == v && sameAxes(priced.needed[before], to);
    if (!program.graph.values[v].free && !repeated && !isThere(v, to, assignment))
      priced.seconds += facts.operandTimes[i] * moving(v, assignment[v], to);
  }
  for (auto [i, v] : llvm::enumerate(op.results))
    priced.seconds += facts.times * moving(v, axes.resultSharding(i), assignment[v]);
  return priced;
}

double assignmentSeconds(const Program &program, const sharding::Mesh &mesh,
                         const cost::Topology &topology, const Assignment &assignment) {
  return AssignmentPrices(program, mesh, topology).seconds(assignment);
}

} // namespace tessera::plan
