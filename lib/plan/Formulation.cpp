#include "lib/plan/Formulation.h"

#include "lib/plan/Memory.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::plan {

using sharding::PropagatedOp;
using sharding::PropagatedValue;
using sharding::TensorSharding;

Formulation::Formulation(const Program &program, sharding::ReshardPlanner &planner)
    : program(program), planner(planner), lists(planner.getMesh()), prices(lists, planner),
      tables(program, lists, planner), listOf(program.graph.values.size(), -1),
      vertexOfValue(program.graph.values.size(), -1), vertexOfOp(program.graph.ops.size(), -1),
      tableOfOp(program.graph.ops.size(), nullptr) {
  uniteValues();
  for (size_t v = 0; v < program.values.size(); ++v)
    if (program.values[v].wholeTimes > 0 && vertexOfValue[v] >= 0)
      addWholeUse(int32_t(v));
  for (size_t op = 0; op < program.graph.ops.size(); ++op)
    addOp(int32_t(op));
}

// Values that lie alike are one vertex: members of a group, and what the program takes and gives back
// in its place.
void Formulation::uniteValues() {
  const std::vector<PropagatedValue> &values = program.graph.values;
  const sharding::Mesh &mesh = planner.getMesh();
  llvm::EquivalenceClasses<int32_t> alike;
  llvm::DenseMap<int32_t, int32_t> ofGroup, ofResult;
  for (size_t v = 0; v < values.size(); ++v) {
    alike.insert(int32_t(v));
    if (values[v].group >= 0)
      alike.unionSets(ofGroup.try_emplace(values[v].group, int32_t(v)).first->second, int32_t(v));
    if (program.values[v].result >= 0)
      ofResult[program.values[v].result] = int32_t(v);
  }
  auto isAnnotated = [&](int32_t v) { return values[v].mesh >= 0; };
  for (size_t v = 0; v < values.size(); ++v)
    if (int32_t to = program.values[v].donatedTo; to >= 0)
      if (auto result = ofResult.find(to); result != ofResult.end())
        if (values[result->second].shape == values[v].shape &&
            !(isAnnotated(int32_t(v)) && isAnnotated(result->second)))
          alike.unionSets(int32_t(v), result->second);
  for (const auto &each : alike) {
    if (!each->isLeader())
      continue;
    LayoutQuery query;
    bool free = true;
    for (int32_t v : alike.members(*each)) {
      const ValueFacts &facts = program.values[v];
      query.shape = values[v].shape;
      if (isAnnotated(v) && query.annotation.dims.empty())
        query.annotation = values[v].sharding;
      query.wholeAxes |= facts.argument >= 0 || facts.result >= 0;
      for (const std::string &name : facts.manualAxes)
        if (int32_t axis = mesh.axisIndex(name); axis >= 0)
          query.unusable |= uint64_t{1} << axis;
      free &= values[v].free;
    }
    int32_t list = lists.candidates(query);
    int32_t vertex = free ? -1 : graph.vertices();
    if (!free)
      graph.costs.emplace_back(lists[list].size(), 0);
    for (int32_t v : alike.members(*each)) {
      listOf[v] = list;
      vertexOfValue[v] = vertex;
    }
  }
}

template <typename Make> int32_t Formulation::shared(std::string key, Make make) {
  auto [it, isNew] = matrixNumbers.try_emplace(std::move(key), int32_t(graph.matrices.size()));
  if (isNew) {
    Matrix made = make();
    graph.matrices.push_back({int32_t(made.rows), int32_t(made.columns), std::move(made.at)});
  }
  return it->second;
}

void Formulation::connect(int32_t from, int32_t to, int32_t matrix, double factor) {
  if (from != to) {
    graph.edges.push_back({from, to, matrix, factor});
    return;
  }
  const solver::Matrix &own = graph.matrices[matrix];
  for (size_t i = 0; i < graph.costs[from].size(); ++i)
    graph.costs[from][i] += factor * own.costs[i * size_t(own.columns) + i];
}

void Formulation::addWholeUse(int32_t value) {
  const PropagatedValue &it = program.graph.values[value];
  TensorSharding whole = TensorSharding::replicatedOver(it.shape.size());
  for (auto [cost, sharding] :
       llvm::zip_equal(graph.costs[vertexOfValue[value]], lists[listOf[value]]))
    cost += program.values[value].wholeTimes *
            prices.seconds(it.shape, it.elementBytes, sharding, whole);
}

void Formulation::addOp(int32_t index) {
  const PropagatedOp &op = program.graph.ops[index];
  if (llvm::all_of(op.results, [&](int32_t v) { return program.graph.values[v].free; }))
    return;
  if (op.viewed >= 0)
    return addViewed(index);
  const OpTable &table = tables.of(index, listOf);
  tableOfOp[index] = &table;
  if (!table.byResult.empty())
    return addByResult(index, table);
  llvm::SmallVector<size_t> moved;
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (vertexOfValue[op.operands[i]] >= 0 && !program.graph.values[op.operands[i]].shape.empty())
      moved.push_back(i);
  if (moved.size() == 1 && op.results.size() == 1)
    return addContracted(index, table, moved[0]);
  addVertex(index, table);
}

// x * x is brought there once.
bool Formulation::isRepeated(const PropagatedOp &op, const OpTable &table, size_t operand) const {
  for (size_t i = 0; i < operand; ++i)
    if (op.operands[i] == op.operands[operand] &&
        table.needed[i].list == table.needed[operand].list &&
        table.needed[i].at == table.needed[operand].at)
      return true;
  return false;
}

int32_t Formulation::operandMatrix(int32_t index, const OpTable &table, size_t operand,
                                   const std::vector<int32_t> *columns) {
  int32_t value = program.graph.ops[index].operands[operand];
  std::string key;
  appendKey(key, reinterpret_cast<intptr_t>(&table));
  appendKey(key, int64_t(operand));
  appendKey(key, listOf[value]);
  return shared(std::move(key), [&] {
    const TensorChoices &needed = table.needed[operand];
    const Matrix &price = between(listOf[value], needed.list, value);
    size_t count = columns ? columns->size() : needed.at.size();
    Matrix matrix{price.rows, count, std::vector<double>(price.rows * count)};
    for (size_t row = 0; row < price.rows; ++row)
      for (size_t c = 0; c < count; ++c)
        matrix(row, c) = price(row, needed.at[columns ? (*columns)[c] : c]);
    return matrix;
  });
}

int32_t Formulation::resultMatrix(int32_t index, const OpTable &table, size_t result) {
  int32_t value = program.graph.ops[index].results[result];
  std::string key;
  appendKey(key, reinterpret_cast<intptr_t>(&table));
  appendKey(key, -1 - int64_t(result));
  return shared(std::move(key), [&] {
    const TensorChoices &made = table.made[result];
    const Matrix &price = between(made.list, listOf[value], value);
    Matrix matrix{made.at.size(), price.columns, {}};
    for (int32_t row : made.at)
      matrix.at.insert(matrix.at.end(), price.at.begin() + row * price.columns,
                       price.at.begin() + (row + 1) * price.columns);
    return matrix;
  });
}

void Formulation::addByResult(int32_t index, const OpTable &table) {
  const PropagatedOp &op = program.graph.ops[index];
  const OpFacts &facts = program.ops[index];
  int32_t result = vertexOfValue[op.results[0]];
  if (!facts.moves)
    for (auto [cost, choice] : llvm::zip_equal(graph.costs[result], table.byResult))
      cost += facts.times * table.work[choice];
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (int32_t from = vertexOfValue[op.operands[i]];
        from >= 0 && !program.graph.values[op.operands[i]].shape.empty() &&
        (facts.moves || !isRepeated(op, table, i)))
      connect(from, result, operandMatrix(index, table, i, &table.byResult), facts.operandTimes[i]);
}

// The best choice for each pair of shardings of its operand and its result.
void Formulation::addContracted(int32_t index, const OpTable &table, size_t operand) {
  const PropagatedOp &op = program.graph.ops[index];
  const OpFacts &facts = program.ops[index];
  int32_t from = vertexOfValue[op.operands[operand]], to = vertexOfValue[op.results[0]];
  double share = facts.operandTimes[operand] / facts.times;
  std::string key;
  appendKey(key, reinterpret_cast<intptr_t>(&table));
  appendKey(key, int64_t(share * 1e6));
  int32_t matrix = shared(std::move(key), [&] {
    const TensorChoices &needed = table.needed[operand], &made = table.made[0];
    const Matrix out = between(made.list, listOf[op.results[0]], op.results[0]);
    const Matrix &in = between(listOf[op.operands[operand]], needed.list, op.operands[operand]);
    Matrix rest{in.columns, out.columns,
                std::vector<double>(in.columns * out.columns, kImpossible)};
    for (size_t c = 0; c < table.choices.size(); ++c)
      for (size_t to = 0; to < out.columns; ++to) {
        double &best = rest(needed.at[c], to);
        best = std::min(best, table.work[c] + out(made.at[c], to));
      }
    Matrix all{in.rows, out.columns, std::vector<double>(in.rows * out.columns, kImpossible)};
    for (size_t from = 0; from < in.rows; ++from)
      for (size_t via = 0; via < in.columns; ++via)
        for (size_t to = 0; to < out.columns; ++to)
          all(from, to) = std::min(all(from, to), share * in(from, via) + rest(via, to));
    return all;
  });
  connect(from, to, matrix, facts.times);
}

void Formulation::addVertex(int32_t index, const OpTable &table) {
  const PropagatedOp &op = program.graph.ops[index];
  const OpFacts &facts = program.ops[index];
  int32_t vertex = graph.vertices();
  vertexOfOp[index] = vertex;
  graph.costs.emplace_back();
  for (double seconds : table.work)
    graph.costs.back().push_back(facts.times * seconds);
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (int32_t from = vertexOfValue[op.operands[i]];
        from >= 0 && !program.graph.values[op.operands[i]].shape.empty() &&
        !isRepeated(op, table, i))
      connect(from, vertex, operandMatrix(index, table, i, nullptr), facts.operandTimes[i]);
  for (size_t i = 0; i < op.results.size(); ++i)
    if (int32_t to = vertexOfValue[op.results[i]];
        to >= 0 && !program.graph.values[op.results[i]].shape.empty())
      connect(vertex, to, resultMatrix(index, table, i), facts.times);
}

// The boundary of a manual computation: the value inside lies as the manual axes and its own say.
void Formulation::addViewed(int32_t index) {
  const PropagatedOp &op = program.graph.ops[index];
  bool enters = op.viewed == 1;
  int32_t outside = enters ? op.operands[0] : op.results[0];
  int32_t inside = enters ? op.results[0] : op.operands[0];
  if (vertexOfValue[op.operands[0]] < 0 || vertexOfValue[op.results[0]] < 0)
    return;
  std::vector<TensorSharding> seen;
  for (const TensorSharding &sharding : lists[listOf[inside]]) {
    TensorSharding whole = seenThrough(op.view, sharding);
    whole.replicated.clear();
    seen.push_back(withoutUnitAxes(std::move(whole)));
  }
  int32_t list = lists.intern(std::move(seen));
  std::string key = "viewed";
  appendKey(key, index);
  int32_t matrix = shared(std::move(key), [&] {
    return enters ? between(listOf[outside], list, outside)
                  : between(list, listOf[outside], outside);
  });
  connect(vertexOfValue[op.operands[0]], vertexOfValue[op.results[0]], matrix,
          program.ops[index].operandTimes[0]);
}

Assignment Formulation::decode(llvm::ArrayRef<int32_t> choices) const {
  Assignment assignment(program.graph.values.size());
  for (size_t v = 0; v < assignment.size(); ++v) {
    int32_t vertex = vertexOfValue[v];
    assignment[v] = vertex >= 0
                        ? lists[listOf[v]][choices[vertex]]
                        : TensorSharding::replicatedOver(program.graph.values[v].shape.size());
  }
  // What any device can make lies as its user needs it.
  for (size_t index = program.graph.ops.size(); index-- > 0;) {
    const PropagatedOp &op = program.graph.ops[index];
    if (op.viewed >= 0 || llvm::none_of(op.operands, [&](int32_t v) {
          return program.graph.values[v].free && !program.graph.values[v].shape.empty();
        }))
      continue;
    sharding::PlacedOp placed = tables.place(int32_t(index));
    sharding::FactorAxes axes(placed.op);
    if (vertexOfOp[index] >= 0) {
      axes = tableOfOp[index]->choices[choices[vertexOfOp[index]]];
    } else {
      for (auto [i, v] : llvm::enumerate(op.results))
        axes.claimResult(i, assignment[v]);
      for (auto [i, v] : llvm::enumerate(op.operands))
        if (!program.graph.values[v].free)
          axes.claimOperand(i, assignment[v]);
    }
    for (auto [i, v] : llvm::enumerate(op.operands))
      if (program.graph.values[v].free)
        assignment[v] = axes.operandSharding(i);
  }
  return assignment;
}

void Formulation::addHolds() {
  for (size_t v = 0; v < program.values.size(); ++v) {
    if (vertexOfValue[v] < 0)
      continue;
    const ValueFacts &facts = program.values[v];
    solver::Hold hold{vertexOfValue[v], facts.first, facts.last + 1, {}};
    for (const TensorSharding &sharding : lists[listOf[v]])
      hold.bytes.push_back(int64_t(heldBytes(program, int32_t(v), sharding)));
    if (llvm::any_of(hold.bytes, [](int64_t bytes) { return bytes > 0; }))
      graph.holds.push_back(std::move(hold));
  }
}

std::vector<int32_t> Formulation::encode(const Assignment &assignment) const {
  std::vector<int32_t> choices(graph.costs.size(), 0);
  for (size_t v = 0; v < assignment.size(); ++v)
    if (vertexOfValue[v] >= 0)
      for (auto [i, sharding] : llvm::enumerate(lists[listOf[v]]))
        if (sameAxes(sharding, assignment[v]))
          choices[vertexOfValue[v]] = int32_t(i);
  std::vector<llvm::SmallVector<int32_t, 4>> edgesOf(graph.costs.size());
  for (auto [e, edge] : llvm::enumerate(graph.edges)) {
    edgesOf[edge.from].push_back(int32_t(e));
    edgesOf[edge.to].push_back(int32_t(e));
  }
  for (int32_t vertex : vertexOfOp) {
    if (vertex < 0)
      continue;
    std::vector<double> cost = graph.costs[vertex];
    for (int32_t e : edgesOf[vertex]) {
      const solver::Edge &edge = graph.edges[e];
      const solver::Matrix &matrix = graph.matrices[edge.matrix];
      bool leaves = edge.from == vertex;
      size_t other = choices[leaves ? edge.to : edge.from];
      for (size_t i = 0; i < cost.size(); ++i)
        cost[i] += edge.factor * matrix.costs[leaves ? i * size_t(matrix.columns) + other
                                                     : other * size_t(matrix.columns) + i];
    }
    choices[vertex] = int32_t(llvm::min_element(cost) - cost.begin());
  }
  return choices;
}

} // namespace tessera::plan
