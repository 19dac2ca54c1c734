// What moving and computing costs: links, the rates of one device, memory. Plain data.
#pragma once

#include "lib/cost/DeviceRates.h"
#include "lib/links/Network.h"
#include "lib/mesh/Mesh.h"
#include <algorithm>
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

// How many of so many devices take turns at a core: what one of them computes takes as many times as
// long.
double turnsOf(const Topology &topology, int64_t devices);
double turnsOf(const Topology &topology, const sharding::Mesh &mesh);
// How many cores each of so many devices has; where they take turns, a part of one.
double coresOf(const Topology &topology, int64_t devices);

// What a collective takes. Whoever prices one asks this.
struct CollectiveTime {
  double links = 0; // the links of its group carry it, and the devices may compute meanwhile
  // Each device's own at the same time, all turns included: meeting the others, and where devices
  // share a memory and the machine's rates are known, reading and writing what is exchanged.
  double cores = 0;
  double seconds() const { return std::max(links, cores); }
};
CollectiveTime collectiveTime(const Topology &topology, const sharding::Mesh &mesh,
                              CollectiveKind kind, double bytes,
                              llvm::ArrayRef<sharding::AxisRef> group);
// Of a group of `size` devices that has these links, where `devices` in all take turns.
CollectiveTime collectiveTime(const Topology &topology, int64_t devices, CollectiveKind kind,
                              double bytes, const links::Route &route, int64_t size);
// Where nothing is computed meanwhile.
double collectiveSeconds(const Topology &topology, const sharding::Mesh &mesh, CollectiveKind kind,
                         double bytes, llvm::ArrayRef<sharding::AxisRef> group);

// Seconds of a kernel of each device that does `flops` and touches `bytes`, all turns included.
// Nothing else is known of it: KernelTerms.h has more to say of those that are.
double computeSeconds(const Topology &topology, const sharding::Mesh &mesh, double flops,
                      double bytes);

} // namespace tessera::cost
