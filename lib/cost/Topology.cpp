#include "lib/cost/Topology.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

Link Topology::linkAlong(const sharding::Mesh &mesh,
                         llvm::ArrayRef<sharding::AxisRef> group) const {
  Link slowest = link;
  bool first = true;
  for (const sharding::AxisRef &ref : group) {
    auto named = axes.find(mesh.axes[ref.axis].name);
    const Link &own = named == axes.end() ? link : named->second;
    slowest =
        first ? own : Link{std::max(slowest.alpha, own.alpha), std::min(slowest.beta, own.beta)};
    first = false;
  }
  return slowest;
}

const Topology &defaultTopology() {
  static const Topology host{"host", {1e-6, 5e9}, {}, 2e10, 1e10};
  return host;
}

double wireBytes(CollectiveKind kind, double bytes, int64_t groupSize) {
  double others = double(groupSize - 1) / double(groupSize);
  switch (kind) {
  case CollectiveKind::AllReduce:
    return 2 * others * bytes;
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllToAll:
    return others * bytes;
  case CollectiveKind::Permute:
  case CollectiveKind::Broadcast:
    return groupSize > 1 ? bytes : 0;
  }
  return 0;
}

// Parts of 2^i devices scatter and gather what the parts then exchange by recursive doubling, for
// the best i: few bytes are doubled only, many scattered all the way. (Thakur, Rabenseifner & Gropp
// 2005, Optimization of Collective Communication Operations in MPICH, has the two ends.)
static double allReduceSeconds(const Link &link, double bytes, double depth, double scattered) {
  double best = 2 * depth * link.alpha + scattered / link.beta;
  for (double i = 0, part = 1; i < depth; ++i, part *= 2) {
    double sent = 2 * (part - 1) / part * bytes + (depth - i) * bytes / part;
    best = std::min(best, (depth + i) * link.alpha + sent / link.beta);
  }
  return best;
}

double collectiveSeconds(const Topology &topology, const sharding::Mesh &mesh, CollectiveKind kind,
                         double bytes, llvm::ArrayRef<sharding::AxisRef> group) {
  int64_t size = 1;
  for (const sharding::AxisRef &ref : group)
    size *= ref.size;
  if (size <= 1)
    return 0;
  Link link = topology.linkAlong(mesh, group);
  // A tree's latency: what the in-process and the usual library algorithms need for small messages.
  double depth = std::ceil(std::log2(double(size))), sent = wireBytes(kind, bytes, size);
  if (kind == CollectiveKind::AllReduce)
    return allReduceSeconds(link, bytes, depth, sent);
  return (kind == CollectiveKind::Permute ? 1 : depth) * link.alpha + sent / link.beta;
}

double computeSeconds(const Topology &topology, double flops, double bytes) {
  return std::max(flops / topology.flopsPerSecond, bytes / topology.bytesPerSecond);
}

} // namespace tessera::cost
