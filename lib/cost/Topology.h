// What moving and computing costs: links per mesh axis, and the roofline of one device. Plain data.
#pragma once

#include "lib/links/LinkTime.h"
#include "lib/mesh/Mesh.h"
#include <map>

namespace tessera::cost {

using links::Link;

// A machine: every axis uses `link` unless `axes` names another for it.
struct Topology {
  std::string name;
  Link link;
  std::map<std::string, Link> axes;
  double flopsPerSecond; // one device, multiply-adds count two
  double bytesPerSecond; // one device's memory

  // The slowest of the links that a group along `group` uses.
  Link linkAlong(const sharding::Mesh &mesh, llvm::ArrayRef<sharding::AxisRef> group) const;
};

// The topology that is used when none is given: eight devices in one host, "host".
const Topology &defaultTopology();

using CollectiveKind = links::Pattern;
using links::wireBytes;

// Seconds of one collective over the slowest link of its group.
double collectiveSeconds(const Topology &topology, const sharding::Mesh &mesh, CollectiveKind kind,
                         double bytes, llvm::ArrayRef<sharding::AxisRef> group);

// Seconds of a kernel that does `flops` and touches `bytes`: the roofline.
double computeSeconds(const Topology &topology, double flops, double bytes);

} // namespace tessera::cost
