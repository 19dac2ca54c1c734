// What moving and computing costs: links per mesh axis, and the roofline of one device. Plain data.
#pragma once

#include "lib/mesh/Mesh.h"
#include <map>

namespace tessera::cost {

// A link between neighbours along a mesh axis.
struct Link {
  double alpha; // seconds before the first byte arrives
  double beta;  // bytes per second and device
  bool operator==(const Link &) const = default;
};

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

enum class CollectiveKind {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Permute,
  Broadcast,
};

// What a device sends in a ring, where `bytes` is what it receives or reduces: the result's bytes,
// of a reduce-scatter the operand's. With g devices in the group:
//   all-reduce                               2(g-1)/g x bytes
//   all-gather, all-to-all, reduce-scatter   (g-1)/g x bytes
//   permute, broadcast                       bytes
double wireBytes(CollectiveKind kind, double bytes, int64_t groupSize);

// Seconds of one collective: latency of its steps and its wire bytes over the slowest link.
double collectiveSeconds(const Topology &topology, const sharding::Mesh &mesh, CollectiveKind kind,
                         double bytes, llvm::ArrayRef<sharding::AxisRef> group);

// Seconds of a kernel that does `flops` and touches `bytes`: the roofline.
double computeSeconds(const Topology &topology, double flops, double bytes);

} // namespace tessera::cost
