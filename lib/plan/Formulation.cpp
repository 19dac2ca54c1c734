#include "lib/plan/Formulation.h"

#include "lib/plan/Memory.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::plan {

using sharding::PropagatedOp;
using sharding::PropagatedValue;
using sharding::TensorSharding;

Formulation::Formulation(MeshTables &tables, const SharedCopies &copies)
    : tables(tables), program(tables.program), copies(copies),
      vertexOfOp(program.graph.ops.size(), -1) {
  build();
}

void Formulation::build() {
  graph.costs.clear();
  graph.edges.clear();
  sharers.clear();
  numbersBefore.swap(matrixNumbers);
  matricesBefore.swap(graph.matrices);
  for (int32_t list : tables.vertexLists)
    graph.costs.emplace_back(tables.lists[list].size(), 0);
  for (size_t v = 0; v < program.values.size(); ++v)
    if (program.values[v].wholeTimes > 0 && !program.graph.values[v].free)
      addWholeUse(int32_t(v));
  for (size_t op = 0; op < program.graph.ops.size(); ++op)
    addOp(int32_t(op));
  numbersBefore.clear();
  matricesBefore.clear();
}

template <typename Make> int32_t Formulation::shared(std::string key, Make make) {
  auto [it, isNew] = matrixNumbers.try_emplace(std::move(key), int32_t(graph.matrices.size()));
  if (!isNew)
    return it->second;
  if (auto old = numbersBefore.find(it->first); old != numbersBefore.end()) {
    graph.matrices.push_back(std::move(matricesBefore[old->second]));
  } else {
    Matrix made = make();
    graph.matrices.push_back({int32_t(made.rows), int32_t(made.columns), std::move(made.at)});
  }
  return it->second;
}

void Formulation::connect(int32_t from, int32_t to, int32_t matrix, double factor,
                          const Sharer &sharer) {
  if (from != to) {
    graph.edges.push_back({from, to, matrix, factor});
    sharers.push_back(sharer);
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
       llvm::zip_equal(graph.costs[tables.vertexOf[value]], tables.lists[tables.listOf[value]]))
    cost += program.values[value].wholeTimes *
            tables.prices.seconds(it.shape, it.elementBytes, sharding, whole,
                                  tables.movingOf(value, Leg::Brought));
}

void Formulation::addOp(int32_t index) {
  const PropagatedOp &op = program.graph.ops[index];
  if (llvm::all_of(op.results, [&](int32_t v) { return program.graph.values[v].free; }))
    return;
  if (op.viewed >= 0)
    return addViewed(index);
  const OpTable &table = tables.of(index);
  if (!table.byResult.empty())
    return addByResult(index, table);
  llvm::SmallVector<size_t> moved;
  for (auto [i, v] : llvm::enumerate(op.operands))
    if (tables.isMoved(v))
      moved.push_back(i);
  if (moved.size() == 1 && op.results.size() == 1 && copies.placeOf(index, moved[0]).first < 0)
    return addContracted(index, table, moved[0]);
  addVertex(index, table);
}

// Of bringing an operand's value to what each of these choices needs.
int32_t Formulation::operandMatrix(const OpTable &table, size_t operand,
                                   const SharedCopies::Paid &paid) {
  std::string key;
  appendKey(key, reinterpret_cast<intptr_t>(&table));
  appendKey(key, int64_t(operand));
  appendKey(key, paid.key);
  return shared(std::move(key), [&] { return byChoice(*paid.seconds, columnsOf(table, operand)); });
}

// Of what each sharding takes that an operand may be needed in, what each choice takes.
Matrix Formulation::byChoice(const Matrix &seconds, llvm::ArrayRef<int32_t> needed) {
  Matrix matrix{seconds.rows, needed.size(), {}};
  for (size_t row = 0; row < matrix.rows; ++row)
    for (int32_t column : needed)
      matrix.at.push_back(seconds(row, size_t(column)));
  return matrix;
}

// Of each choice of the vertex that reads an operand, which sharding of it that needs.
const std::vector<int32_t> &Formulation::columnsOf(const OpTable &table, size_t operand) {
  std::vector<int32_t> &numbers = columns[{&table, operand}];
  const std::vector<int32_t> &needed = table.needed[operand].at;
  if (numbers.empty() && table.byResult.empty())
    numbers = needed;
  else if (numbers.empty())
    for (int32_t choice : table.byResult)
      numbers.push_back(needed[choice]);
  return numbers;
}

void Formulation::addOperand(int32_t op, const OpTable &table, size_t operand, int32_t to) {
  SharedCopies::Paid paid = copies.paidBy(op, operand);
  auto [value, reader] = copies.placeOf(op, operand);
  int32_t from = tables.vertexOf[program.graph.ops[op].operands[operand]];
  connect(from, to, operandMatrix(table, operand, paid), paid.times,
          {value, reader, &columnsOf(table, operand)});
  const Matrix &sooner = table.sooner[operand];
  if (sooner.at.empty())
    return;
  std::string key = "sooner";
  appendKey(key, reinterpret_cast<intptr_t>(&table));
  appendKey(key, int64_t(operand));
  int32_t matrix =
      shared(std::move(key), [&] { return byChoice(sooner, columnsOf(table, operand)); });
  connect(from, to, matrix, program.ops[op].operandTimes[operand], {});
}

int32_t Formulation::resultMatrix(const OpTable &table, size_t result) {
  std::string key;
  appendKey(key, reinterpret_cast<intptr_t>(&table));
  appendKey(key, -1 - int64_t(result));
  return shared(std::move(key), [&] {
    const Matrix &price = *table.out[result];
    Matrix matrix{table.made[result].at.size(), price.columns, {}};
    for (int32_t row : table.made[result].at)
      matrix.at.insert(matrix.at.end(), price.at.begin() + row * price.columns,
                       price.at.begin() + (row + 1) * price.columns);
    return matrix;
  });
}

void Formulation::addByResult(int32_t index, const OpTable &table) {
  const PropagatedOp &op = program.graph.ops[index];
  const OpFacts &facts = program.ops[index];
  int32_t result = tables.vertexOf[op.results[0]];
  if (!facts.moves)
    for (auto [cost, choice] : llvm::zip_equal(graph.costs[result], table.byResult))
      cost += facts.times * table.work[choice];
  for (auto [i, v] : llvm::enumerate(op.operands))
    if (tables.isMoved(v) && (facts.moves || !isRepeated(op, table, i)))
      addOperand(index, table, i, result);
}

// What an op pays for an operand that it shares with no other.
Matrix Formulation::brought(const OpTable &table, size_t operand, const SharedCopies::Paid &paid) {
  Matrix all = *paid.seconds;
  const Matrix &sooner = table.sooner[operand];
  for (size_t i = 0; i < sooner.at.size(); ++i)
    all.at[i] += sooner.at[i];
  return all;
}

// The best choice for each pair of shardings of its operand and its result.
void Formulation::addContracted(int32_t index, const OpTable &table, size_t operand) {
  const PropagatedOp &op = program.graph.ops[index];
  const OpFacts &facts = program.ops[index];
  SharedCopies::Paid paid = copies.paidBy(index, operand);
  double share = paid.times / facts.times;
  std::string key;
  appendKey(key, reinterpret_cast<intptr_t>(&table));
  appendKey(key, paid.key);
  appendKey(key, int64_t(share * 1e6));
  int32_t matrix = shared(std::move(key), [&] {
    const TensorChoices &needed = table.needed[operand], &made = table.made[0];
    const Matrix &out = *table.out[0], in = brought(table, operand, paid);
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
  connect(tables.vertexOf[op.operands[operand]], tables.vertexOf[op.results[0]], matrix,
          facts.times, {});
}

// Which choice that is.
int32_t Formulation::contractedChoice(int32_t index, const OpTable &table, size_t operand,
                                      llvm::ArrayRef<int32_t> choices) const {
  const PropagatedOp &op = program.graph.ops[index];
  SharedCopies::Paid paid = copies.paidBy(index, operand);
  double share = paid.times / program.ops[index].times, least = kImpossible;
  Matrix in = brought(table, operand, paid);
  size_t from = choices[tables.vertexOf[op.operands[operand]]];
  size_t to = choices[tables.vertexOf[op.results[0]]];
  int32_t best = 0;
  for (size_t c = 0; c < table.choices.size(); ++c)
    if (double seconds = share * in(from, table.needed[operand].at[c]) + table.work[c] +
                         (*table.out[0])(table.made[0].at[c], to);
        seconds < least) {
      least = seconds;
      best = int32_t(c);
    }
  return best;
}

void Formulation::addVertex(int32_t index, const OpTable &table) {
  const PropagatedOp &op = program.graph.ops[index];
  const OpFacts &facts = program.ops[index];
  int32_t vertex = graph.vertices();
  vertexOfOp[index] = vertex;
  graph.costs.emplace_back();
  for (double seconds : table.work)
    graph.costs.back().push_back(facts.times * seconds);
  for (auto [i, v] : llvm::enumerate(op.operands))
    if (tables.isMoved(v) && !isRepeated(op, table, i))
      addOperand(index, table, i, vertex);
  for (auto [i, v] : llvm::enumerate(op.results))
    if (table.out[i])
      connect(vertex, tables.vertexOf[v], resultMatrix(table, i), facts.times, {});
}

std::vector<int32_t> Formulation::order() const {
  std::vector<int32_t> order;
  std::vector<bool> isSeen(graph.costs.size());
  auto see = [&](int32_t vertex) {
    if (vertex < 0 || isSeen[vertex])
      return;
    isSeen[vertex] = true;
    order.push_back(vertex);
  };
  for (auto [index, op] : llvm::enumerate(program.graph.ops)) {
    for (int32_t v : op.operands)
      see(tables.vertexOf[v]);
    see(vertexOfOp[index]);
    for (int32_t v : op.results)
      see(tables.vertexOf[v]);
  }
  for (int32_t vertex = 0; vertex < graph.vertices(); ++vertex)
    see(vertex);
  return order;
}

Uses Formulation::uses(llvm::ArrayRef<int32_t> choices) const {
  Uses uses{std::vector<int32_t>(program.graph.values.size(), -1), {}};
  for (size_t v = 0; v < uses.at.size(); ++v)
    if (tables.vertexOf[v] >= 0)
      uses.at[v] = choices[tables.vertexOf[v]];
  uses.needed.resize(program.graph.ops.size());
  for (auto [index, op] : llvm::enumerate(program.graph.ops)) {
    if (program.ops[index].moves || op.viewed >= 0 ||
        llvm::all_of(op.results, [&](int32_t v) { return program.graph.values[v].free; }))
      continue;
    const OpTable &table = tables.of(int32_t(index));
    int32_t choice = 0;
    if (vertexOfOp[index] >= 0)
      choice = choices[vertexOfOp[index]];
    else if (!table.byResult.empty())
      choice = table.byResult[choices[tables.vertexOf[op.results[0]]]];
    else
      for (auto [i, v] : llvm::enumerate(op.operands))
        if (tables.isMoved(v))
          choice = contractedChoice(int32_t(index), table, i, choices);
    for (const TensorChoices &needed : table.needed)
      uses.needed[index].push_back(tables.lists.numbersOf(needed.list)[needed.at[choice]]);
  }
  return uses;
}

// The boundary of a manual computation: the value inside lies as the manual axes and its own say.
void Formulation::addViewed(int32_t index) {
  const PropagatedOp &op = program.graph.ops[index];
  bool enters = op.viewed == 1;
  int32_t outside = enters ? op.operands[0] : op.results[0];
  int32_t inside = enters ? op.results[0] : op.operands[0];
  if (tables.vertexOf[op.operands[0]] < 0 || tables.vertexOf[op.results[0]] < 0)
    return;
  std::vector<TensorSharding> seen;
  for (const TensorSharding &sharding : tables.lists[tables.listOf[inside]]) {
    TensorSharding whole = seenThrough(op.view, sharding);
    whole.replicated.clear();
    seen.push_back(withoutUnitAxes(std::move(whole)));
  }
  int32_t list = tables.lists.intern(std::move(seen));
  std::string key = "viewed";
  appendKey(key, index);
  int32_t matrix = shared(std::move(key), [&] {
    return enters ? between(tables.listOf[outside], list, outside)
                  : between(list, tables.listOf[outside], outside);
  });
  connect(tables.vertexOf[op.operands[0]], tables.vertexOf[op.results[0]], matrix,
          program.ops[index].operandTimes[0], {});
}

Assignment Formulation::decode(llvm::ArrayRef<int32_t> choices) const {
  Assignment assignment(program.graph.values.size());
  for (size_t v = 0; v < assignment.size(); ++v) {
    int32_t vertex = tables.vertexOf[v];
    assignment[v] = vertex >= 0
                        ? tables.lists[tables.listOf[v]][choices[vertex]]
                        : TensorSharding::replicatedOver(program.graph.values[v].shape.size());
  }
  // What any device can make lies as its user needs it.
  for (size_t index = program.graph.ops.size(); index-- > 0;) {
    const PropagatedOp &op = program.graph.ops[index];
    if (op.viewed >= 0 || llvm::none_of(op.operands, [&](int32_t v) {
          return program.graph.values[v].free && !program.graph.values[v].shape.empty();
        }))
      continue;
    sharding::PlacedOp placed = tables.ops.place(int32_t(index));
    sharding::FactorAxes axes(placed.op);
    if (vertexOfOp[index] >= 0) {
      axes = tables.of(int32_t(index)).choices[choices[vertexOfOp[index]]];
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

void Formulation::addHolds(int64_t capacity) {
  for (size_t v = 0; v < program.values.size(); ++v) {
    if (tables.vertexOf[v] < 0)
      continue;
    std::vector<int64_t> bytes;
    for (const TensorSharding &sharding : tables.lists[tables.listOf[v]])
      bytes.push_back(int64_t(heldBytes(program, int32_t(v), sharding)));
    if (llvm::any_of(bytes, [](int64_t each) { return each > 0; }))
      for (const Lifetime &held : lifetimes(program.values[v]))
        graph.holds.push_back({tables.vertexOf[v], held.first, held.last + 1, bytes});
  }
  solver::leaveOutSteps(graph, capacity);
}

std::vector<int32_t> Formulation::encode(const Assignment &assignment) const {
  std::vector<int32_t> choices(graph.costs.size(), 0);
  for (size_t v = 0; v < assignment.size(); ++v)
    if (tables.vertexOf[v] >= 0)
      for (auto [i, sharding] : llvm::enumerate(tables.lists[tables.listOf[v]]))
        if (sameAxes(sharding, assignment[v]))
          choices[tables.vertexOf[v]] = int32_t(i);
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
