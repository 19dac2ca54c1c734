// The search for a plan as a problem on a graph: a choice for each vertex, costs of vertices and of
// pairs of neighbours.
//
//   vertex  a value (or several that lie alike): which of its candidate shardings
//           an op that its result does not decide: which factor gets which axes
//   edge    operand to op, op to result: what the reshard between the two takes
//
// An op whose result says how it is computed (elementwise, a broadcast, a transpose) is no vertex: its
// operands have edges with its result. Neither is one with a single operand and result that shares no
// copy of the operand with other ops: the best way to compute it, for every pair of shardings, is in the
// edge between the two.
#pragma once

#include "lib/plan/SharedCopies.h"
#include "lib/solver/Graph.h"

namespace tessera::plan {

class Formulation {
public:
  // Both are kept by reference.
  Formulation(MeshTables &tables, const SharedCopies &copies);

  // Edges that are equal share their matrix.
  solver::Graph graph;
  // Of an edge from a value to who shares copies of it with others: of each of the latter's choices, the
  // column of what it pays (SharedCopies). Of any other edge value is -1.
  struct Sharer {
    int32_t value = -1, reader = -1;
    const std::vector<int32_t> *columns = nullptr;
  };
  std::vector<Sharer> sharers; // by edge
  // The vertices in the order of the program.
  std::vector<int32_t> order() const;
  void
  addHolds(int64_t capacity); // what values hold, when: as far as it matters within so many bytes
  void build();               // again, with what is paid for copies now; vertices are the same

  // The shardings of all values that these choices mean.
  Assignment decode(llvm::ArrayRef<int32_t> choices) const;
  // What ops read by these choices.
  Uses uses(llvm::ArrayRef<int32_t> choices) const;

  // The choices that mean these shardings; the first where one is not among the candidates. Ops are
  // computed as is best then.
  std::vector<int32_t> encode(const Assignment &assignment) const;

  // The vertex of a value; -1 of one that any device can make for itself.
  int32_t vertexOf(int32_t value) const { return tables.vertexOf[value]; }
  const std::vector<sharding::TensorSharding> &shardingsOf(int32_t value) const {
    return tables.lists[tables.listOf[value]];
  }

private:
  void addOp(int32_t op);
  void addByResult(int32_t op, const OpTable &table);
  void addContracted(int32_t op, const OpTable &table, size_t operand);
  int32_t contractedChoice(int32_t op, const OpTable &table, size_t operand,
                           llvm::ArrayRef<int32_t> choices) const;
  void addVertex(int32_t op, const OpTable &table);
  void addViewed(int32_t op);
  void addWholeUse(int32_t value);
  void connect(int32_t from, int32_t to, int32_t matrix, double factor, const Sharer &sharer);
  void addOperand(int32_t op, const OpTable &table, size_t operand, int32_t to);
  const std::vector<int32_t> &columnsOf(const OpTable &table, size_t operand);
  int32_t operandMatrix(const OpTable &table, size_t operand, const SharedCopies::Paid &paid);
  static Matrix byChoice(const Matrix &seconds, llvm::ArrayRef<int32_t> needed);
  static Matrix brought(const OpTable &table, size_t operand, const SharedCopies::Paid &paid);
  int32_t resultMatrix(const OpTable &table, size_t result);
  const Matrix &between(int32_t from, int32_t to, int32_t value) {
    const sharding::PropagatedValue &it = program.graph.values[value];
    return tables.prices.between(from, to, it.shape, it.elementBytes,
                                 tables.movingOf(value, Leg::Brought));
  }
  template <typename Make> int32_t shared(std::string key, Make make);

  MeshTables &tables;
  const Program &program;
  const SharedCopies &copies;
  std::vector<int32_t> vertexOfOp; // -1: it has none
  std::map<std::pair<const OpTable *, size_t>, std::vector<int32_t>> columns;
  std::map<std::string, int32_t> matrixNumbers, numbersBefore; // of this build, of the one before
  std::vector<solver::Matrix> matricesBefore;
};

} // namespace tessera::plan
