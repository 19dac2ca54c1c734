#include "lib/solver/ReduceState.h"

#include <algorithm>

namespace tessera::solver {

void Reduction::State::run() {
  while (possible) {
    int level = 0;
    while (level < levels && queues[level].empty())
      ++level;
    if (level == levels)
      return;
    int32_t v = queues[level].front();
    queues[level].pop_front();
    if (queued[v] != level + 1)
      continue;
    queued[v] = 0;
    if (nodes[v].gone)
      continue;
    bool changed = level == 0   ? leaveOutForbidden(v) || settle(v) ||
                                      (nodes[v].edges.size() == 1 && followBest(v))
                   : level == 1 ? followFunction(v) || leaveOutDominated(v)
                                : bridge(v);
    if (!changed && level + 1 < levels)
      push(v, level + 1);
  }
}

void Reduction::State::makeCore() {
  std::vector<int32_t> number(nodes.size(), -1);
  for (size_t v = 0; v < nodes.size(); ++v) {
    Node &node = nodes[v];
    if (node.gone)
      continue;
    number[v] = core.vertices();
    vertexNumbers.push_back(static_cast<int32_t>(v));
    for (Hold &hold : node.holds) {
      core.holds.push_back(std::move(hold));
      core.holds.back().vertex = core.vertices();
    }
    core.costs.push_back(node.costs);
    keptLists.push_back(node.kept);
  }
  for (const Join &join : joins)
    if (!join.gone)
      core.links.push_back(
          {number[join.a], number[join.b], join.matrix, matrices.transposed(join.matrix)});
  leaveOutSteps(core, stepNumbers);
}

Reduction::Reduction(const Problem &problem, Matrices &matrices, int64_t steps)
    : state(std::make_unique<State>(problem, matrices, steps)) {
  state->run();
  if (state->possible)
    state->makeCore();
}

Reduction::~Reduction() = default;
bool Reduction::possible() const { return state->possible; }
const Problem &Reduction::core() const { return state->core; }
const std::vector<int32_t> &Reduction::steps() const { return state->stepNumbers; }
const std::vector<int32_t> &Reduction::vertices() const { return state->vertexNumbers; }
const std::vector<std::vector<int32_t>> &Reduction::kept() const { return state->keptLists; }

Choices Reduction::expanded(const Choices &core) const {
  Choices choices(state->nodes.size(), -1);
  for (size_t v = 0; v < core.size(); ++v)
    choices[state->vertexNumbers[v]] = state->keptLists[v][core[v]];
  for (auto at = state->recoveries.rbegin(); at != state->recoveries.rend(); ++at) {
    if (at->neighbours[1] < 0) {
      choices[at->vertex] = at->follows[at->neighbours[0] < 0 ? 0 : choices[at->neighbours[0]]];
      continue;
    }
    const double *rows[2];
    for (int end : {0, 1}) {
      const std::vector<int32_t> &list = at->lists[end];
      int64_t row =
          std::find(list.begin(), list.end(), choices[at->neighbours[end]]) - list.begin();
      const Matrix &matrix = state->matrices[at->matrices[end]];
      rows[end] = &matrix.costs[row * matrix.columns];
    }
    size_t best = 0;
    auto cost = [&](size_t k) { return rows[0][k] + at->costs[k] + rows[1][k]; };
    for (size_t k = 1; k < at->kept.size(); ++k)
      if (cost(k) < cost(best))
        best = k;
    choices[at->vertex] = at->kept[best];
  }
  return choices;
}

} // namespace tessera::solver
