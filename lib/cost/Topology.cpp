#include "lib/cost/Topology.h"

#include "lib/cost/CollectiveGroup.h"
#include "lib/cost/Exchange.h"

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

double turnsOf(const Topology &topology, int64_t devices) {
  return topology.computingAtOnce ? std::max(1.0, static_cast<double>(devices) /
                                                      static_cast<double>(topology.computingAtOnce))
                                  : 1;
}

double coresOf(const Topology &topology, int64_t devices) {
  return topology.computingAtOnce
             ? double(topology.computingAtOnce) / double(std::max<int64_t>(devices, 1))
             : 1;
}

double turnsOf(const Topology &topology, const sharding::Mesh &mesh) {
  return turnsOf(topology, mesh.numDevices());
}

static double coresTime(const Topology &topology, int64_t devices, CollectiveKind kind,
                        double bytes, int64_t group) {
  return turnsOf(topology, devices) *
         exchangeSeconds(topology.device, exchangeOf(topology, devices, kind, bytes, group));
}

CollectiveTime collectiveTime(const Topology &topology, int64_t devices, CollectiveKind kind,
                              double bytes, const links::Route &route, int64_t size) {
  return {links::seconds(kind, bytes, route), coresTime(topology, devices, kind, bytes, size)};
}

static bool areLinksAlike(const links::Network &network) {
  return network.axes.empty() && network.levels.empty() && network.link.directions < 2;
}

CollectiveGroup collectiveGroup(const Topology &topology, const sharding::Mesh &mesh,
                                llvm::ArrayRef<sharding::AxisRef> group) {
  int64_t size = sharding::shardCount(group);
  if (areLinksAlike(topology.network)) // a short cut: searches ask this often
    return {size, {}};
  return {size, topology.routeOf(mesh, group)};
}

CollectiveTime collectiveTime(const Topology &topology, const sharding::Mesh &mesh,
                              CollectiveKind kind, double bytes, const CollectiveGroup &group) {
  if (areLinksAlike(topology.network))
    return {links::seconds(kind, bytes, group.size, topology.network.link),
            coresTime(topology, mesh.numDevices(), kind, bytes, group.size)};
  return collectiveTime(topology, mesh.numDevices(), kind, bytes, group.route, group.size);
}

CollectiveTime collectiveTime(const Topology &topology, const sharding::Mesh &mesh,
                              CollectiveKind kind, double bytes,
                              llvm::ArrayRef<sharding::AxisRef> group) {
  return collectiveTime(topology, mesh, kind, bytes, collectiveGroup(topology, mesh, group));
}

double collectiveSeconds(const Topology &topology, const sharding::Mesh &mesh, CollectiveKind kind,
                         double bytes, llvm::ArrayRef<sharding::AxisRef> group) {
  return collectiveTime(topology, mesh, kind, bytes, group).seconds();
}

double computeSeconds(const Topology &topology, const sharding::Mesh &mesh, double flops,
                      double bytes) {
  return turnsOf(topology, mesh) * rooflineSeconds(topology.device, flops, bytes);
}

} // namespace tessera::cost
