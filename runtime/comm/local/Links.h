// Simulated links: a collective begins when the last rank has joined it and the links of its ranks
// along all its axes are free, and completes when those have carried it, so that overlap and
// schedules show in wall time on few cores. No core is used for the delay.
#pragma once

#include "lib/links/Network.h"
#include "runtime/program/Blocks.h"
#include "runtime/program/Groups.h"
#include <mutex>
#include <vector>

namespace tessera::runtime {

using links::Link;

class Links {
public:
  Links(const links::Network &network, const program::Mesh &mesh);

  // What the plan takes over the slowest link that its groups use.
  int64_t nanoseconds(const CollectivePlan &plan) const;

private:
  Link link_;
  std::vector<Link> axes_; // by mesh axis
};

// When the links are free: each device has one along each mesh axis, and one for groups that lie
// along none. Thread-safe.
class LinkClock {
public:
  LinkClock(const program::Mesh &mesh, uint32_t devices)
      : perDevice_(mesh.axes_size() + 1), free_(devices * perDevice_) {}

  // When what takes that many nanoseconds has crossed the links of a group, which is ready at `now`.
  int64_t carry(const CollectivePlan &plan, const GroupSet &set, uint32_t group, int64_t now,
                int64_t nanoseconds);

private:
  const size_t perDevice_;
  std::mutex mutex_;
  std::vector<int64_t> free_; // by device and axis
};

} // namespace tessera::runtime
