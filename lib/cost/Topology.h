// What moving and computing costs: links, the rates of one device, memory. Plain data.
#pragma once

#include "lib/cost/DeviceRates.h"
#include "lib/links/Network.h"
#include "lib/mesh/Mesh.h"
#include <map>

namespace tessera::cost {

using links::Link;

// Memory that a device can reach.
struct MemorySpace {
  int64_t bytes = 0;   // that each device may use; 0: nobody says
  double toDevice = 0; // bytes per second of the copy engine; 0: as fast as the device's memory
  double fromDevice = 0;
};

// A machine. TopologyFields.h has the names of all of this in files and IR.
struct Topology {
  std::string name, about; // `about`: where the figures come from
  links::Network network;
  DeviceRates device;
  // How many devices of a mesh compute at the same time at those rates; 0: all. Of n devices a step
  // takes n / computingAtOnce times as long in compute, but not on links.
  int64_t computingAtOnce = 0;
  std::map<std::string, MemorySpace> spaces; // "device", "host"

  // The links that a group along `group` uses, from the quickest to the slowest.
  links::Route routeOf(const sharding::Mesh &mesh, llvm::ArrayRef<sharding::AxisRef> group) const;
  // The slowest of the links that a group along `group` uses.
  Link linkAlong(const sharding::Mesh &mesh, llvm::ArrayRef<sharding::AxisRef> group) const;
  // That a device has for a program; 0: nobody says.
  int64_t deviceBytes() const;
};

// The topology that is used when none is given: eight devices in one host, "host".
const Topology &defaultTopology();

using CollectiveKind = links::Pattern;
using links::wireBytes;

// Seconds of one collective over the links of its group.
double collectiveSeconds(const Topology &topology, const sharding::Mesh &mesh, CollectiveKind kind,
                         double bytes, llvm::ArrayRef<sharding::AxisRef> group);

// Seconds of a kernel that does `flops` and touches `bytes`: the roofline.
double computeSeconds(const Topology &topology, double flops, double bytes);

} // namespace tessera::cost
