#include "passes/codegen/kernel/JointNests.h"
#include "passes/codegen/kernel/SameLoops.h"

namespace tessera::codegen {

JointNests::JointNests(const KernelSource &kernel) : kernel(kernel) {
  for (unsigned i = 0; i < kernel.outputs().size(); ++i)
    outputs.push_back(i);
  for (unsigned &output : outputs)
    nests.push_back(std::make_unique<NestGraph>(kernel, llvm::ArrayRef(output), /*update=*/false));
}

llvm::SmallVector<Node *> JointNests::rootNodes() const {
  llvm::SmallVector<Node *> nodes;
  for (const auto &nest : nests)
    nodes.append(nest->rootNodes());
  return nodes;
}

llvm::SmallVector<Index> JointNests::stores() const {
  llvm::SmallVector<Index> offsets;
  for (const auto &nest : nests)
    offsets.append(nest->stores());
  return offsets;
}

bool JointNests::buildWith(const std::map<LoopPart, LoopPart> &shared) {
  constexpr unsigned mostDimensions = 64;
  auto graph = std::make_shared<KernelGraph>(kernel, splits);
  for (auto [part, with] : shared)
    graph->builder.shareLoop(part, with);
  for (auto [i, nest] : llvm::enumerate(nests))
    if (!nest->buildIn(graph, mostDimensions * static_cast<unsigned>(i)))
      return false;
  return graph->builder.hasSharedInOrder();
}

static llvm::SmallVector<Node *> reductionsOf(const NestGraph &nest) {
  llvm::SmallVector<Node *> reductions;
  std::vector<Node *> live = Graph::reachable(nest.rootNodes());
  for (Node *node : llvm::reverse(live))
    if (node->op == Op::Reduced)
      reductions.push_back(node);
  return reductions;
}

// By the first reduction, from the result on, that the first output has, too.
void JointNests::findShared(const NestGraph &nest, std::map<LoopPart, LoopPart> &shared) const {
  const GraphBuilder &builder = nest.g->builder;
  auto partOf = [&](unsigned dim) {
    GraphBuilder::Origin origin = builder.origins()[dim];
    return LoopPart{origin.key, origin.loop, origin.inner};
  };
  llvm::SmallVector<Node *> known = reductionsOf(*nests.front());
  for (Node *node : reductionsOf(nest))
    for (Node *other : known) {
      SameLoops loops(graph());
      if (!loops.matchFreely(other, node))
        continue;
      for (auto [with, dim] : loops.pairs())
        if (partOf(with) != partOf(dim))
          shared[partOf(dim)] = partOf(with);
      return;
    }
}

bool JointNests::build() {
  for (unsigned attempt = 0;; ++attempt) {
    if (!buildWith({}))
      return false;
    if (attempt == 4 || !addSplits(*nests.front()->g, splits))
      break;
  }
  std::map<LoopPart, LoopPart> shared;
  for (const auto &nest : llvm::drop_begin(nests))
    findShared(*nest, shared);
  return shared.empty() || buildWith(shared);
}

} // namespace tessera::codegen
