#include "lib/cost/Topology.h"

#include <algorithm>

namespace tessera::cost {

// Devices between neighbours along a part of an axis.
static int64_t strideOf(const sharding::Mesh &mesh, const sharding::AxisRef &ref) {
  int64_t stride = mesh.axes[ref.axis].size / (ref.preSize * ref.size);
  for (size_t axis = ref.axis + 1; axis < mesh.axes.size(); ++axis)
    stride *= mesh.axes[axis].size;
  return stride;
}

Link Topology::linkAlong(const sharding::Mesh &mesh,
                         llvm::ArrayRef<sharding::AxisRef> group) const {
  if (network.axes.empty() && network.levels.empty())
    return network.link;
  Link slowest = network.link;
  bool first = true;
  for (const sharding::AxisRef &ref : group) {
    Link own = links::linkAlong(network, {mesh.axes[ref.axis].name, strideOf(mesh, ref), ref.size});
    slowest = first ? own : links::slower(slowest, own);
    first = false;
  }
  return slowest;
}

int64_t Topology::deviceBytes() const {
  auto device = spaces.find("device");
  return device == spaces.end() ? 0 : device->second.bytes;
}

const Topology &defaultTopology() {
  static const Topology host = [] {
    Topology topology;
    topology.name = "host";
    topology.network.link = {1e-6, 5e9};
    return topology;
  }();
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
  return std::max(flops / topology.device.flopsPerSecond, bytes / topology.device.bytesPerSecond);
}

} // namespace tessera::cost
