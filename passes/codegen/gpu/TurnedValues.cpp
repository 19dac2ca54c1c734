#include "passes/codegen/gpu/TurnedValues.h"

#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/kernel/TurnedLoads.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::codegen::gpu {

// Of fewer elements no line is turned.
static constexpr int64_t kLeastTurned = 2;

namespace {

// How the loads lie that a sum is made of, none of which is of a sum itself: all across the results, all
// beside them (nothing to turn), or neither.
enum class Layout { Across, Beside, Mixed };

} // namespace

static Layout layoutOf(const Reduction &reduction, const LoopGroup &along, const LoopGroup &across,
                       llvm::SmallVectorImpl<Node *> &loads) {
  bool anyBeside = false;
  for (Node *node : Graph::reachable(reduction.inputs)) {
    if (node->op == Op::Reduced)
      return Layout::Mixed;
    if (node->op != Op::Load || !(node->deps & (setOf(along) | setOf(across))))
      continue;
    std::optional<int64_t> inLine = strideOf(node->index, along),
                           inResult = strideOf(node->index, across);
    if (inLine == 1 && std::abs(inResult.value_or(0)) > 1 && !node->mask)
      loads.push_back(node);
    else if (inResult && std::abs(*inResult) <= 1)
      anyBeside |= *inResult != 0;
    else
      return Layout::Mixed;
  }
  return loads.empty() ? Layout::Beside : anyBeside ? Layout::Mixed : Layout::Across;
}

// Of a nest with sums that each thread adds up alone; what is read beside them lies as the results do.
static std::optional<TurnedValues>
turnedSums(const NestGraph &nest, llvm::ArrayRef<LoopGroup> groups, llvm::ArrayRef<Node *> live) {
  const Graph &graph = nest.g->graph;
  llvm::SmallVector<Node *> sums;
  for (Node *node : live)
    if (node->op == Op::Reduced && !node->local)
      sums.push_back(node);
  for (size_t along = 0; along + 1 < groups.size(); ++along) {
    TurnedValues turned{{}, along};
    bool isWhole = llvm::all_of(sums, [&](Node *sum) {
      llvm::SmallVector<Node *, 2> loads;
      Layout layout = layoutOf(*sum->reduction, groups[along], groups.back(), loads);
      if (layout == Layout::Across)
        turned.values.push_back({sum, loads});
      return layout != Layout::Mixed;
    });
    for (Node *node : nodesAround(nest.rootNodes()))
      if (node->op == Op::Load && !node->mask && strideOf(node->index, groups[along]) == 1 &&
          std::abs(strideOf(node->index, groups.back()).value_or(0)) > 1)
        turned.values.push_back({node, {node}});
    constexpr size_t kMostValues = 4;
    if (isWhole && !turned.values.empty() && turned.values.size() <= kMostValues &&
        std::min(itemsOf(graph, groups[along], 1), itemsOf(graph, groups.back(), 1)) >=
            kLeastTurned)
      return turned;
  }
  return std::nullopt;
}

std::optional<TurnedValues> turnedValues(const NestGraph &nest, llvm::ArrayRef<LoopGroup> groups,
                                         llvm::ArrayRef<Node *> live) {
  const Graph &graph = nest.g->graph;
  if (groups.size() < 2)
    return std::nullopt;
  if (llvm::any_of(live, [](Node *node) { return node->op == Op::Reduced; }))
    return turnedSums(nest, groups, live);
  auto loads = turnedLoads(graph, groups, live, /*isCut=*/false, kLeastTurned);
  if (!loads)
    return std::nullopt;
  TurnedValues turned{{}, loads->along};
  for (Node *load : loads->loads)
    turned.values.push_back({load, {load}});
  return turned;
}

} // namespace tessera::codegen::gpu
