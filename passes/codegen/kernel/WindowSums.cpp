#include "passes/codegen/kernel/WindowSums.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

std::optional<WindowSums> findWindowSums(const NestGraph &nest) {
  constexpr int64_t leastTerms = 64, mostRows = 16;
  const Graph &graph = nest.g->graph;
  std::vector<Node *> live = Graph::reachable(nest.rootNodes());
  WindowSums sums;
  for (Node *node : live) {
    if (node->op != Op::Reduced)
      continue;
    if (sums.product || node->reduction->order != Reduction::Chain || !node->reduction->isOfWindow)
      return std::nullopt;
    sums.product = node;
  }
  if (!sums.product || nest.takesRows())
    return std::nullopt;
  const Reduction &reduction = *sums.product->reduction;
  auto groups = collapseLoops(graph, nest.dims, live, nest.stores());
  if (groups.empty() || pointsOf(graph, reduction.dims) < leastTerms)
    return std::nullopt;
  sums.n = groups.pop_back_val();
  sums.nSize = boundsOf(graph, sums.n).second;
  auto *multiplied = reduction.inputs[0];
  sums.a = multiplied->operands[0], sums.b = multiplied->operands[1];
  auto has = [](Node *node, llvm::ArrayRef<unsigned> group) {
    return (node->deps & setOf(group)) != 0;
  };
  if (!has(sums.a, sums.n) || !has(sums.b, sums.n) || sums.nSize < 2)
    return std::nullopt;
  auto areRows = [&](const LoopGroup &group) { return has(sums.a, group) && !has(sums.b, group); };
  if (llvm::none_of(groups, areRows))
    std::swap(sums.a, sums.b);
  for (const LoopGroup &group : groups) {
    int64_t size = boundsOf(graph, group).second;
    if (areRows(group)) {
      sums.rows.append(group.begin(), group.end());
      sums.rowCount *= size;
    } else {
      sums.outer.push_back(group);
      sums.outerCount *= size;
    }
  }
  bool isAlong =
      llvm::all_of(nest.stores(), [&](Index store) { return strideOf(store, sums.n) == 1; });
  if (!isAlong || sums.rowCount < 2 || sums.rowCount > mostRows)
    return std::nullopt;
  return sums;
}

} // namespace tessera::codegen
