// The ways between programs, checked.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include "runtime/array/Layout.h"
#include "runtime/program/Blocks.h"
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::runtime {

// A channel: who sends to whom, by positions on the two meshes. Takes memory in what a program says.
class Route {
public:
  static Result<Route> make(const program::Channel &channel,
                            const std::vector<const MeshGrid *> &meshes);

  uint32_t from() const { return from_; } // programs
  uint32_t to() const { return to_; }
  uint64_t bytes() const { return bytes_; } // of what is sent at once
  const std::string &name() const { return name_; }
  uint32_t sourceOf(uint32_t target) const;
  // Calls f(target) for each device that this one sends to.
  template <class F> void forEachTarget(uint32_t source, F f) const {
    if (!isTable_)
      return f(source);
    auto at = std::lower_bound(bySource_.begin(), bySource_.end(), std::pair(source, uint32_t{0}));
    for (; at != bySource_.end() && at->first == source; ++at)
      f(at->second);
  }

private:
  std::string name_;
  uint32_t from_ = 0, to_ = 0;
  uint64_t bytes_ = 0;
  bool isTable_ = false;                                // otherwise to the same position
  std::vector<std::pair<uint32_t, uint32_t>> bySource_; // (source, target)
  std::vector<uint32_t> sources_;                       // by target
};

// One end, as communicators see it; site and location are the caller's to say.
CollectivePlan planTransfer(const Route &route, bool sends);

} // namespace tessera::runtime
