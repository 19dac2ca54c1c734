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

links::Route Topology::routeOf(const sharding::Mesh &mesh,
                               llvm::ArrayRef<sharding::AxisRef> group) const {
  llvm::SmallVector<links::Crossing, 4> crossings;
  for (const sharding::AxisRef &ref : group)
    crossings.push_back({mesh.axes[ref.axis].name, ref.axis, strideOf(mesh, ref), ref.size});
  return links::routeOf(network, crossings);
}

Link Topology::linkAlong(const sharding::Mesh &mesh,
                         llvm::ArrayRef<sharding::AxisRef> group) const {
  return links::slowestOf(network, routeOf(mesh, group));
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
  const links::Network &network = topology.network;
  bool isAllAlike = network.axes.empty() && network.levels.empty() && network.link.directions < 2;
  if (isAllAlike) // a short cut: searches ask this often
    return links::seconds(kind, bytes, sharding::shardCount(group), network.link);
  return links::seconds(kind, bytes, topology.routeOf(mesh, group));
}

double computeSeconds(const Topology &topology, double flops, double bytes) {
  return std::max(flops / topology.device.flopsPerSecond, bytes / topology.device.bytesPerSecond);
}

} // namespace tessera::cost
