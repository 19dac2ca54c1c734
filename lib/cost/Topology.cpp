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

// A tree's latency: what the in-process and the usual library algorithms need for small messages.
static double steps(CollectiveKind kind, int64_t groupSize) {
  double depth = std::ceil(std::log2(double(groupSize)));
  switch (kind) {
  case CollectiveKind::AllReduce:
    return 2 * depth;
  case CollectiveKind::Permute:
    return 1;
  default:
    return depth;
  }
}

double collectiveSeconds(const Topology &topology, const sharding::Mesh &mesh, CollectiveKind kind,
                         double bytes, llvm::ArrayRef<sharding::AxisRef> group) {
  int64_t size = 1;
  for (const sharding::AxisRef &ref : group)
    size *= ref.size;
  if (size <= 1)
    return 0;
  Link link = topology.linkAlong(mesh, group);
  return steps(kind, size) * link.alpha + wireBytes(kind, bytes, size) / link.beta;
}

double computeSeconds(const Topology &topology, double flops, double bytes) {
  return std::max(flops / topology.flopsPerSecond, bytes / topology.bytesPerSecond);
}

} // namespace tessera::cost
