#include "lib/cost/Topology.h"

#include <algorithm>

namespace tessera::cost {

Link Topology::linkAlong(const sharding::Mesh &mesh,
                         llvm::ArrayRef<sharding::AxisRef> group) const {
  Link slowest = link;
  bool first = true;
  for (const sharding::AxisRef &ref : group) {
    auto named = axes.find(mesh.axes[ref.axis].name);
    const Link &own = named == axes.end() ? link : named->second;
    slowest = first ? own : links::slower(slowest, own);
    first = false;
  }
  return slowest;
}

const Topology &defaultTopology() {
  static const Topology host{"host", {1e-6, 5e9}, {}, 2e10, 1e10};
  return host;
}

double collectiveSeconds(const Topology &topology, const sharding::Mesh &mesh, CollectiveKind kind,
                         double bytes, llvm::ArrayRef<sharding::AxisRef> group) {
  int64_t size = 1;
  for (const sharding::AxisRef &ref : group)
    size *= ref.size;
  return links::seconds(kind, bytes, size, topology.linkAlong(mesh, group));
}

double computeSeconds(const Topology &topology, double flops, double bytes) {
  return std::max(flops / topology.flopsPerSecond, bytes / topology.bytesPerSecond);
}

} // namespace tessera::cost
