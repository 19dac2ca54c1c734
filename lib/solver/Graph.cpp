#include "lib/solver/Graph.h"

#include <algorithm>

namespace tessera::solver {

double costOf(const Graph &graph, const Choices &choices) {
  double sum = 0;
  for (size_t v = 0; v < graph.costs.size(); ++v)
    sum += graph.costs[v][choices[v]];
  for (const Edge &edge : graph.edges) {
    const Matrix &matrix = graph.matrices[edge.matrix];
    double cost = matrix.costs[int64_t(choices[edge.from]) * matrix.columns + choices[edge.to]];
    sum += cost == forbidden ? forbidden : edge.factor * cost;
  }
  return sum;
}

int64_t entriesOf(const Graph &graph) {
  int64_t entries = 0;
  for (const Edge &edge : graph.edges)
    entries += int64_t(graph.matrices[edge.matrix].costs.size());
  return entries;
}

int64_t peakOf(const Graph &graph, const Choices &choices) {
  int32_t steps = 0;
  for (const Hold &hold : graph.holds)
    steps = std::max(steps, hold.end);
  std::vector<int64_t> change(steps + 1);
  for (const Hold &hold : graph.holds) {
    if (hold.begin >= hold.end)
      continue;
    change[hold.begin] += hold.bytes[choices[hold.vertex]];
    change[hold.end] -= hold.bytes[choices[hold.vertex]];
  }
  int64_t peak = 0, held = 0;
  for (int64_t bytes : change)
    peak = std::max(peak, held += bytes);
  return peak;
}

} // namespace tessera::solver
