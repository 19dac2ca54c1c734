// The search for a plan as a problem on a graph: a choice for each vertex, costs of vertices and of
// pairs of neighbours.
//
//   vertex  a value (or several that lie alike): which of its candidate shardings
//           an op that its result does not decide: which factor gets which axes
//   edge    operand to op, op to result: what the reshard between the two takes
//
// An op whose result says how it is computed (elementwise, a broadcast, a transpose) is no vertex: its
// operands have edges with its result. Neither is one with a single operand and result: the best way
// to compute it, for every pair of shardings, is in the edge between the two.
#pragma once

#include "lib/plan/OpTable.h"
#include "lib/solver/Graph.h"

namespace tessera::plan {

class Formulation {
public:
  // All are kept by reference.
  Formulation(const Program &program, sharding::ReshardPlanner &planner);

  // Edges that are equal share their matrix.
  solver::Graph graph;
  void addHolds(); // what values hold, when

  // The shardings of all values that these choices mean.
  Assignment decode(llvm::ArrayRef<int32_t> choices) const;

  // The choices that mean these shardings; the first where one is not among the candidates. Ops are
  // computed as is best then.
  std::vector<int32_t> encode(const Assignment &assignment) const;

  // The vertex of a value; -1 of one that any device can make for itself.
  int32_t vertexOf(int32_t value) const { return vertexOfValue[value]; }
  const std::vector<sharding::TensorSharding> &shardingsOf(int32_t value) const {
    return lists[listOf[value]];
  }

private:
  void uniteValues();
  void addOp(int32_t op);
  void addByResult(int32_t op, const OpTable &table);
  void addContracted(int32_t op, const OpTable &table, size_t operand);
  void addVertex(int32_t op, const OpTable &table);
  void addViewed(int32_t op);
  void addWholeUse(int32_t value);
  void connect(int32_t from, int32_t to, int32_t matrix, double factor);
  // Of bringing an operand's value to what the choices of `columns` need.
  int32_t operandMatrix(int32_t op, const OpTable &table, size_t operand,
                        const std::vector<int32_t> *columns);
  int32_t resultMatrix(int32_t op, const OpTable &table, size_t result);
  bool isRepeated(const sharding::PropagatedOp &op, const OpTable &table, size_t operand) const;
  const Matrix &between(int32_t from, int32_t to, int32_t value) {
    const sharding::PropagatedValue &it = program.graph.values[value];
    return prices.between(from, to, it.shape, it.elementBytes);
  }
  template <typename Make> int32_t shared(std::string key, Make make);

  const Program &program;
  sharding::ReshardPlanner &planner;
  LayoutLists lists;
  ReshardPrices prices;
  OpTables tables;
  std::vector<int32_t> listOf, vertexOfValue; // by value
  std::vector<int32_t> vertexOfOp;            // -1: it has none
  std::vector<const OpTable *> tableOfOp;     // null: nothing is computed
  std::map<std::string, int32_t> matrixNumbers;
};

} // namespace tessera::plan
