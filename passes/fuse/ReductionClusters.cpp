#include "passes/fuse/ReductionClusters.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::fusion {

std::vector<int> reductionClusters(llvm::ArrayRef<ClusterNode> nodes) {
  std::vector<int> cluster(nodes.size(), -1);
  std::vector<char> counts(nodes.size(), false);
  for (int i = nodes.size(); i-- > 0;) {
    const ClusterNode &node = nodes[i];
    if (node.kind == ClusterNode::Outside)
      continue;
    auto clusterOf = [&](int user) {
      return user < 0 || nodes[user].kind == ClusterNode::Edge ? -1 : cluster[user];
    };
    int joined = node.users.empty() ? -1 : clusterOf(node.users.front());
    if (llvm::any_of(node.users, [&](int user) { return clusterOf(user) != joined; }))
      joined = -1;
    cluster[i] = joined < 0 ? i : joined;
    counts[cluster[i]] |= node.kind == ClusterNode::Reduction;
  }
  for (int &number : cluster)
    if (number >= 0 && !counts[number])
      number = -1;
  return cluster;
}

} // namespace tessera::fusion
