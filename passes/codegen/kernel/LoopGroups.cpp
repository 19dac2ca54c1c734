#include "passes/codegen/kernel/LoopGroups.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

llvm::SmallVector<LoopGroup> collapseLoops(const Graph &graph, llvm::ArrayRef<unsigned> order,
                                           llvm::ArrayRef<Node *> nodes,
                                           llvm::ArrayRef<Index> stores) {
  auto merges = [&](unsigned outer, unsigned inner) {
    const Dim &loop = graph.dims[inner];
    if (loop.low != 0 || loop.high != loop.size)
      return false;
    auto fits = [&](Index index) {
      return !index || index->coefficient(outer) == index->coefficient(inner) * loop.size;
    };
    return llvm::all_of(nodes, [&](Node *node) { return fits(node->index); }) &&
           llvm::all_of(stores, fits);
  };
  llvm::SmallVector<LoopGroup> groups;
  for (unsigned dim : order) {
    if (graph.dims[dim].size == 1)
      continue;
    if (!groups.empty() && merges(groups.back().back(), dim))
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  }
  return groups;
}

std::pair<int64_t, int64_t> boundsOf(const Graph &graph, llvm::ArrayRef<unsigned> group) {
  int64_t inner = pointsOf(graph, group.drop_front());
  const Dim &outer = graph.dims[group.front()];
  return {outer.low * inner, outer.high * inner};
}

int64_t pointsOf(const Graph &graph, llvm::ArrayRef<unsigned> dims) {
  int64_t points = 1;
  for (unsigned dim : dims)
    points *= graph.dims[dim].size;
  return points;
}

DimSet setOf(llvm::ArrayRef<unsigned> dims) {
  DimSet set = 0;
  for (unsigned dim : dims)
    set |= DimSet(1) << dim;
  return set;
}

std::optional<int64_t> strideOf(Index index, llvm::ArrayRef<unsigned> group) {
  for (auto [node, factor] : index->nodes)
    if (node->deps & setOf(group))
      return std::nullopt;
  return index->coefficient(group.back());
}

} // namespace tessera::codegen
