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

double AssignmentPrices::seconds(const Assignment &assignment, StepParts *into) {
  parts = into;
  copies.assign(program.graph.values.size(), {});
  double seconds = 0;
  for (size_t op = 0; op < program.graph.ops.size(); ++op)
    seconds += ofOp(int32_t(op), assignment);
  for (size_t v = 0; v < program.values.size(); ++v)
    if (double times = program.values[v].wholeTimes; times > 0 && !program.graph.values[v].free) {
      auto whole = TensorSharding::replicatedOver(assignment[v].dims.size());
      seconds += times * moving(int32_t(v), assignment[v], whole);
      if (parts && !sameAxes(assignment[v], whole))
        parts->movements.push_back({-1, int32_t(v), times, assignment[v], whole});
    }
  return seconds;
}

double AssignmentPrices::moving(int32_t v, const TensorSharding &from, const TensorSharding &to) {
  const PropagatedValue &value = program.graph.values[v];
  if (sameAxes(from, to))
    return 0;
  return prices.seconds(value.shape, value.elementBytes, from, to);
}

void AssignmentPrices::carry(Priced &into, int32_t value, int32_t tensor, double times,
                             const TensorSharding &from, const TensorSharding &to) {
  if (sameAxes(from, to))
    return;
  into.seconds += times * moving(value, from, to);
  into.carried.push_back({tensor, times, from, to});
}

double AssignmentPrices::ofOp(int32_t index, const Assignment &assignment) {
  const PropagatedOp &op = program.graph.ops[index];
  if (llvm::all_of(op.results, [&](int32_t v) { return program.graph.values[v].free; }))
    return 0;
  if (program.ops[index].moves)
    return noted(index, ofMove(index, assignment));
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
  return noted(index, it->second);
}

// What an op takes; its parts are written down where they are asked for.
double AssignmentPrices::noted(int32_t index, const Priced &priced) {
  if (parts) {
    const PropagatedOp &op = program.graph.ops[index];
    auto operands = int32_t(op.operands.size());
    parts->computing += priced.work;
    for (const Carried &each : priced.carried)
      parts->movements.push_back(
          {index,
           each.tensor < operands ? op.operands[each.tensor] : op.results[each.tensor - operands],
           each.times, each.from, each.to});
  }
  return priced.seconds;
}

// Where it was made, or brought for an op before.
bool AssignmentPrices::isThere(int32_t v, const TensorSharding &needed,
                               const Assignment &assignment) const {
  return sameAxes(assignment[v], needed) ||
         llvm::any_of(copies[v],
                      [&](const TensorSharding &copy) { return sameAxes(copy, needed); });
}

AssignmentPrices::Priced AssignmentPrices::ofMove(int32_t index, const Assignment &assignment) {
  const PropagatedOp &op = program.graph.ops[index];
  TensorSharding to = assignment[op.results[0]];
  if (op.viewed == 1)
    to = seenThrough(op.view, to);
  to = withoutUnitAxes(to);
  Priced priced;
  for (auto [i, v] : llvm::enumerate(op.operands)) {
    if (program.graph.values[v].free)
      continue;
    TensorSharding from =
        withoutUnitAxes(op.viewed == 0 ? seenThrough(op.view, assignment[v]) : assignment[v]);
    bool leaves = op.viewed == 0; // a manual computation: seen from the outside
    carry(priced, leaves ? op.results[0] : v, int32_t(leaves ? op.operands.size() : i),
          program.ops[index].operandTimes[i], from, to);
  }
  return priced;
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
  Priced priced;
  priced.work = priced.seconds = facts.times * tables.work(index, placed, axes);
  for (auto [i, v] : llvm::enumerate(op.operands)) {
    priced.needed.push_back(axes.operandSharding(i));
    const TensorSharding &to = priced.needed.back();
    bool repeated = false; // x * x is brought there once
    for (size_t before = 0; before < i; ++before)
      repeated |= op.operands[before] == v && sameAxes(priced.needed[before], to);
    if (!program.graph.values[v].free && !repeated && !isThere(v, to, assignment))
      carry(priced, v, int32_t(i), facts.operandTimes[i], assignment[v], to);
  }
  for (auto [i, v] : llvm::enumerate(op.results))
    carry(priced, v, int32_t(op.operands.size() + i), facts.times, axes.resultSharding(i),
          assignment[v]);
  return priced;
}

double assignmentSeconds(const Program &program, const sharding::Mesh &mesh,
                         const cost::Topology &topology, const Assignment &assignment) {
  return AssignmentPrices(program, mesh, topology).seconds(assignment);
}

} // namespace tessera::plan
