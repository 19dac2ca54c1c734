// Simulated links: a collective completes alpha + bytes / beta after the last rank has joined it
// and the link of its group is free, so that overlap and schedules show in wall time on few cores.
// No core is used for the delay.
#pragma once

#include "runtime/program/Blocks.h"
#include <map>
#include <string>
#include <vector>

namespace tessera::runtime {

struct Link {
  double alpha; // seconds before the first byte arrives
  double beta;  // bytes per second and device
};

class Links {
public:
  // `axes`: links of single mesh axes, by name, where they differ from `link`.
  Links(Link link, const std::map<std::string, Link> &axes, const program::Mesh &mesh);

  // What the plan takes over the slowest link that its groups use: latency of the steps of a tree,
  // wire bytes of a ring.
  int64_t nanoseconds(const CollectivePlan &plan) const;

private:
  Link link_;
  std::vector<Link> axes_; // by mesh axis
};

} // namespace tessera::runtime
