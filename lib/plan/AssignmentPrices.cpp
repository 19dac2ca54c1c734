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
    : program(program), tables(program, mesh, topology) {
  findKinds();
}

void AssignmentPrices::setWeights(const Weights &weights) {
  tables.setWeights(weights);
  known.clear();
  findKinds();
}

void AssignmentPrices::findKinds() {
  std::unordered_map<std::string, int32_t> kinds;
  kindOf.clear();
  for (size_t op = 0; op < program.graph.ops.size(); ++op) {
    std::string key = tables.ops.keyOf(int32_t(op));
    for (double times : program.ops[op].operandTimes)
      appendKey(key, int64_t(times));
    appendKey(key, int64_t(program.ops[op].times));
    kindOf.push_back(kinds.try_emplace(std::move(key), int32_t(kinds.size())).first->second);
  }
}

double AssignmentPrices::seconds(const Assignment &assignment, StepParts *into) {
  parts = into;
  if (parts)
    parts->byOp.assign(program.graph.ops.size(), 0);
  size_t values = program.graph.values.size();
  copies.assign(values, {});
  numbers.assign(values, -1);
  uses.at.assign(values, -1);
  uses.needed.assign(program.graph.ops.size(), {});
  made.assign(program.graph.ops.size(), {});
  for (size_t v = 0; v < values; ++v) {
    if (program.graph.values[v].free)
      continue;
    numbers[v] = tables.lists.numberOf(assignment[v]);
    llvm::ArrayRef<int32_t> candidates = tables.lists.numbersOf(tables.listOf[v]);
    if (const int32_t *it = llvm::find(candidates, numbers[v]); it != candidates.end())
      uses.at[v] = int32_t(it - candidates.begin());
  }
  double seconds = 0;
  for (size_t op = 0; op < program.graph.ops.size(); ++op)
    seconds += ofOp(int32_t(op), assignment);
  for (size_t v = 0; v < program.values.size(); ++v)
    if (double times = program.values[v].wholeTimes; times > 0 && !program.graph.values[v].free) {
      auto whole = TensorSharding::replicatedOver(assignment[v].dims.size());
      seconds += times * moving(int32_t(v), assignment[v], whole);
      if (!sameAxes(assignment[v], whole))
        note({-1, int32_t(v), times, assignment[v], whole});
    }
  // The next step would take state where this one did.
  for (auto [taken, given] : tables.states)
    if (!sameAxes(assignment[given], assignment[taken])) {
      double times = 1 + double(program.values[taken].others.size()); // values folded into it
      double restoring = times * moving(given, assignment[given], assignment[taken]);
      seconds += restoring;
      if (parts)
        parts->restoring += restoring;
      note({-1, given, times, assignment[given], assignment[taken], Leg::Brought, true});
    }
  return seconds;
}

double AssignmentPrices::leastComputing() const {
  double seconds = 0;
  for (auto [index, op] : llvm::enumerate(program.graph.ops)) {
    bool isFree = llvm::all_of(op.results, [&](int32_t v) { return program.graph.values[v].free; });
    if (!isFree && !program.ops[index].moves && op.viewed < 0)
      seconds += program.ops[index].times * *llvm::min_element(tables.of(int32_t(index)).computing);
  }
  return seconds;
}

double AssignmentPrices::moving(int32_t v, const TensorSharding &from, const TensorSharding &to,
                                Leg leg) {
  const PropagatedValue &value = program.graph.values[v];
  return tables.prices.seconds(value.shape, value.elementBytes, from, to, tables.movingOf(v, leg));
}

void AssignmentPrices::note(const Movement &movement) {
  if (!parts)
    return;
  const PropagatedValue &value = program.graph.values[movement.value];
  MovingTime time =
      tables.prices.timeOf(value.shape, value.elementBytes, movement.from, movement.to,
                           tables.movingOf(movement.value, movement.leg));
  parts->moving.exposed += movement.times * time.exposed;
  parts->moving.hidden += movement.times * time.hidden;
  parts->movements.push_back(movement);
}

void AssignmentPrices::carry(Priced &into, int32_t value, int32_t tensor, double times,
                             const TensorSharding &from, const TensorSharding &to, Leg leg) {
  if (sameAxes(from, to))
    return;
  into.seconds += times * moving(value, from, to, leg);
  into.carried.push_back({tensor, times, from, to, leg});
}

double AssignmentPrices::ofOp(int32_t index, const Assignment &assignment) {
  const PropagatedOp &op = program.graph.ops[index];
  if (llvm::all_of(op.results, [&](int32_t v) { return program.graph.values[v].free; }))
    return 0;
  if (program.ops[index].moves)
    return noted(index, ofMove(index, assignment));
  const Priced &priced = ofRuled(index, assignment);
  for (auto [v, needed, times] :
       llvm::zip_equal(op.operands, priced.needed, program.ops[index].operandTimes)) {
    if (!tables.isMoved(v) || timesThere(v, needed) >= times)
      continue;
    auto copy = llvm::find_if(copies[v], [&](const Copy &copy) { return copy.number == needed; });
    if (copy == copies[v].end())
      copies[v].push_back({needed, times});
    else
      copy->times = times;
  }
  uses.needed[index] = priced.needed;
  made[index] = priced.made;
  return noted(index, priced);
}

// What an op takes; its parts are written down where they are asked for.
double AssignmentPrices::noted(int32_t index, const Priced &priced) {
  if (parts) {
    const PropagatedOp &op = program.graph.ops[index];
    auto operands = int32_t(op.operands.size());
    parts->computing += priced.work.computing;
    parts->byOp[index] += priced.work.computing;
    parts->crossing += priced.work.crossing;
    for (const Carried &each : priced.carried)
      note({index,
            each.tensor < operands ? op.operands[each.tensor] : op.results[each.tensor - operands],
            each.times, each.from, each.to, each.leg});
  }
  return priced.seconds;
}

// Where it was made, or brought for an op before: of values that are folded into one (Folded.h), for
// so many of them.
double AssignmentPrices::timesThere(int32_t v, int32_t needed) const {
  if (numbers[v] == needed)
    return kImpossible;
  for (const Copy &copy : copies[v])
    if (copy.number == needed)
      return copy.times;
  return 0;
}

// How often an operand has to be brought yet; what an operand before it needs, too, is there: x * x.
double AssignmentPrices::timesBrought(int32_t index, llvm::ArrayRef<int32_t> needed,
                                      size_t operand) const {
  const PropagatedOp &op = program.graph.ops[index];
  for (size_t before = 0; before < operand; ++before)
    if (op.operands[before] == op.operands[operand] && needed[before] == needed[operand])
      return 0;
  return std::max(0.0, program.ops[index].operandTimes[operand] -
                           timesThere(op.operands[operand], needed[operand]));
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

const AssignmentPrices::Priced &AssignmentPrices::ofRuled(int32_t index,
                                                          const Assignment &assignment) {
  const PropagatedOp &op = program.graph.ops[index];
  std::string key;
  appendKey(key, int64_t(kindOf[index]));
  for (const auto *side : {&op.operands, &op.results})
    for (int32_t v : *side)
      appendKey(key, int64_t(numbers[v]));
  for (int32_t v : op.operands) {
    appendKey(key, int64_t(copies[v].size()));
    for (const Copy &copy : copies[v]) {
      appendKey(key, int64_t(copy.number));
      appendKey(key, int64_t(copy.times));
    }
  }
  auto [it, isNew] = known.try_emplace(std::move(key));
  if (!isNew)
    return it->second;
  const OpFacts &facts = program.ops[index];
  sharding::PlacedOp placed = tables.ops.place(index);
  for (auto [i, v] : llvm::enumerate(op.operands)) {
    placed.operands[i].sharding = assignment[v];
    for (const Copy &copy : copies[v])
      if (copy.times >= facts.operandTimes[i])
        placed.operands[i].copies.push_back(tables.lists.numbered(copy.number));
    placed.operands[i].share = facts.operandTimes[i] / facts.times;
  }
  for (auto [i, v] : llvm::enumerate(op.results))
    placed.results[i].sharding = assignment[v];
  sharding::FactorAxes axes = chooseAxes(index, placed);
  Priced priced;
  OpWork once = tables.ops.work(index, placed, axes);
  priced.work = {facts.times * once.computing, facts.times * once.crossing};
  priced.seconds = weighted(tables.weights, priced.work);
  for (auto [i, v] : llvm::enumerate(op.operands)) {
    TensorSharding to = axes.operandSharding(i);
    priced.needed.push_back(tables.lists.numberOf(to));
    if (double times = tables.isMoved(v) ? timesBrought(index, priced.needed, i) : 0; times > 0)
      carry(priced, v, int32_t(i), times, assignment[v], to,
            tables.weights.firstWaits ? legTo(program, index, i) : Leg::Brought);
  }
  for (size_t i = 0; i < op.results.size(); ++i)
    priced.made.push_back(tables.lists.numberOf(axes.resultSharding(i)));
  for (auto [i, v] : llvm::enumerate(op.results))
    if (!program.graph.values[v].free)
      carry(priced, v, int32_t(op.operands.size() + i), facts.times, axes.resultSharding(i),
            assignment[v], Leg::HandedOn);
  return it->second = std::move(priced);
}

// What resharding chooses, if the search knows that way; else the best that it knows.
sharding::FactorAxes AssignmentPrices::chooseAxes(int32_t index, const sharding::PlacedOp &placed) {
  const PropagatedOp &op = program.graph.ops[index];
  auto isPlaced = [&](int32_t v) { return program.graph.values[v].free || uses.at[v] >= 0; };
  bool isListed = llvm::all_of(op.operands, isPlaced) && llvm::all_of(op.results, isPlaced);
  if (isListed && !tables.of(index).byResult.empty())
    return tables.of(index).choices[tables.of(index).byResult[uses.at[op.results[0]]]];
  auto moves = [&](const sharding::Shape &shape, int64_t elementBytes, const TensorSharding &from,
                   const TensorSharding &to) {
    return tables.prices.estimate(shape, elementBytes, from, to);
  };
  sharding::FactorAxes axes = chooseFactorAxes(placed, tables.planner, moves).axes;
  if (!isListed || llvm::is_contained(tables.of(index).choices, axes))
    return axes;
  const OpTable &table = tables.of(index);
  double least = kImpossible;
  for (auto [choice, work] : llvm::enumerate(table.work)) {
    double seconds = program.ops[index].times * work;
    for (auto [i, v] : llvm::enumerate(op.operands))
      if (int32_t need = table.needed[i].at[choice]; table.in[i])
        seconds +=
            std::max(0.0, program.ops[index].operandTimes[i] -
                              timesThere(v, tables.lists.numbersOf(table.needed[i].list)[need])) *
            (*table.in[i])(size_t(uses.at[v]), size_t(need));
    for (auto [i, v] : llvm::enumerate(op.results))
      if (table.out[i])
        seconds += program.ops[index].times *
                   (*table.out[i])(size_t(table.made[i].at[choice]), size_t(uses.at[v]));
    if (seconds < least) {
      least = seconds;
      axes = table.choices[choice];
    }
  }
  return axes;
}

double assignmentSeconds(const Program &program, const sharding::Mesh &mesh,
                         const cost::Topology &topology, const Assignment &assignment) {
  return AssignmentPrices(program, mesh, topology).seconds(assignment);
}

} // namespace tessera::plan
