// In which order the collectives of this process's ranks are given to NCCL. Plain data.
//
//   rank 0   starts a  starts b                      a, b: of both ranks here; c: of rank 1 and of others
//   rank 1                       starts a  starts c  starts b
//   given                                  a         c   b
//
// One is given when all ranks of its group that are here have come to it, for all of them in one group of
// calls: NCCL may wait, within the calls for one rank, for what it is given for another. And each rank's
// are given in the order in which it started them, which is that of all processes: what a rank's stream
// waits for is never behind what others wait for in theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace tessera::runtime {

class StartOrder {
public:
  struct Start {
    uint32_t site, collective, group;
    std::vector<uint64_t> buffers;
    bool isOfThe(const Start &other) const {
      return collective == other.collective && group == other.group;
    }
  };
  // All ranks here that are in the group of a start.
  using Members = std::function<std::vector<size_t>(const Start &start)>;
  // What can be given: the starts of its ranks.
  struct Ready {
    std::vector<size_t> ranks;
    std::vector<Start> starts;
  };

  StartOrder(size_t ranks, Members members) : members_(std::move(members)), starts_(ranks) {}

  void add(size_t rank, Start start);
  // The next that can be given, which it is from then on.
  std::optional<Ready> next();
  // Whether the rank has started something at the site that is not given.
  bool isPending(size_t rank, uint32_t site) const;
  void clear();

private:
  Members members_;
  std::vector<std::deque<Start>> starts_; // by rank: that are not given
  std::vector<size_t> changed_;           // ranks that have another first one
};

} // namespace tessera::runtime
