// Outputs with loops of their own in one graph, as of a kernel that yields arrays of several shapes.
// Loops that mean the same are one, so that nodes of which several outputs are computed are one, too:
//
//   out[b, t, h, n], sum[b', h', t']     both of e[b, h, t, s], over loops of the sum's own
//   ->  out[b, t, h, n], sum[b, h, t]
#pragma once

#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen {

class JointNests {
public:
  explicit JointNests(const KernelSource &kernel);

  bool build();

  Graph &graph() const { return nests.front()->g->graph; }
  llvm::SmallVector<Node *> rootNodes() const;
  llvm::SmallVector<Index> stores() const;

  llvm::SmallVector<std::unique_ptr<NestGraph>> nests; // by output

private:
  using LoopPart = GraphBuilder::LoopPart;
  bool buildWith(const std::map<LoopPart, LoopPart> &shared);
  void findShared(const NestGraph &nest, std::map<LoopPart, LoopPart> &shared) const;

  const KernelSource &kernel;
  llvm::SmallVector<unsigned> outputs;
  SplitTable splits;
};

} // namespace tessera::codegen
