// Simulated links: a collective begins when the last rank has joined it and the links of its ranks
// along all its axes are free, and completes when those have carried it, so that overlap and
// schedules show in wall time on few cores. No core is used for the delay.
#pragma once

#include "lib/links/Network.h"
#include "runtime/program/Blocks.h"
#include "runtime/program/Groups.h"
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tessera::runtime {

using links::Link;

// What a collective takes of the links of its ranks.
struct LinkUse {
  uint64_t links = 0; // bits as links::Route has them
  int64_t nanoseconds = 0;
};

class Links {
public:
  Links(const links::Network &network, const program::Mesh &mesh);

  LinkUse useOf(const CollectivePlan &plan) const;

private:
  links::Network network_;
  std::vector<std::pair<std::string, int64_t>> axes_; // of the mesh: name and size
};

// When the links of each device are free. Thread-safe.
class LinkClock {
public:
  explicit LinkClock(uint32_t devices) : free_(size_t{devices} * links::kMostLinks) {}

  // When a collective of a group, which is ready at `now`, has crossed the links that it uses.
  int64_t carry(const LinkUse &use, const GroupSet &set, uint32_t group, int64_t now);

private:
  std::mutex mutex_;
  std::vector<int64_t> free_; // by device and link
};

} // namespace tessera::runtime
