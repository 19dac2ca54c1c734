// Nodes of kernel plans, for their tests.
#pragma once

#include "lib/fusion/FusionGraph.h"

namespace tessera::fusion {

inline Node outside(std::vector<int> reads, bool collective = false) {
  Node node;
  node.collective = collective;
  for (int n : reads)
    node.operands.push_back({n, Use::Whole});
  return node;
}

inline Node compute(NodeKind kind, std::vector<Edge> reads, uint32_t space = 1,
                    int64_t elements = 64, bool expensive = false) {
  Node node;
  node.kind = kind;
  node.space = space;
  node.elements = elements;
  node.expensive = expensive;
  node.operands.append(reads.begin(), reads.end());
  return node;
}

} // namespace tessera::fusion
