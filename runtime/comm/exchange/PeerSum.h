// A large all-reduce of processes on one machine, which read and write each other's memory: rank q
// reads slice q of all operands, reduces it, and writes it into all results.
//
//   all-reduce of [4] on 2 ranks       r0: a[0:2] + r1's b[0:2] -> own and r1's result[0:2]
//   r0 a, r1 b                         r1: r0's a[2:4] + b[2:4] -> own and r0's result[2:4]
//
// What lies in a peer's segment (SharedMemory.h) is read and written as one's own; the rest goes through
// a cache by the system's calls (process_vm_readv), in parts that stay there.
//
// As messages (Exchange.h), slices would go through memory of the receiver's, and sums be read by each
// of the others: half as many bytes again, of cores that compute meanwhile. The order of addition is the
// same, and so are the bits. Ranks say where their segment and buffers lie before, and that they are done behind.
#pragma once

#include "runtime/SharedMemory.h"
#include "runtime/Status.h"
#include "runtime/comm/exchange/Exchange.h"

#include <vector>

namespace tessera::runtime {

class PeerSum {
public:
  // Whether all ranks of a group take this way, which each of them finds out for itself: `processes`
  // of each rank, this one's included, are known.
  static bool isFor(const CollectivePlan &plan, const std::vector<int64_t> &processes);

  // `processes` by rank; `segment`: of this one.
  PeerSum(const Exchange &exchange, std::vector<int64_t> processes,
          const SharedSegment &segment = {});

  // Where a rank's segment, operands and results lie: what it sends to its peers, and receives from
  // each.
  const std::vector<uint64_t> &ownAddresses() const { return addresses_[rank_]; }
  std::vector<uint64_t> &addressesOf(uint32_t rank) { return addresses_[rank]; }

  // When these are there: the views of the peers' segments, as far as they can be mapped. `views`
  // has those of earlier sums by rank, which are kept while they are of the same segment.
  using Views = std::vector<std::unique_ptr<SharedView>>;
  void mapPeers(Views &views);

  // Reduces some of the slice; how many bytes, 0 where a peer is not there any more, of which its
  // transport is about to learn.
  Result<int64_t> advance(const Exchange &exchange);
  bool isDone(const Exchange &exchange) const { return operand_ == exchange.plan.transfers.size(); }

private:
  Result<int64_t> reducePart(const Exchange &exchange, int64_t at, int64_t bytes);
  uint64_t addressOf(uint32_t rank, size_t buffer) const;
  // Null where the peer's buffer is not in a segment that this process has mapped.
  char *direct(uint32_t rank, size_t buffer, int64_t at, int64_t bytes) const;

  uint32_t rank_;
  std::vector<int64_t> processes_;
  std::vector<std::vector<uint64_t>> addresses_; // by rank: segment, operands, then results
  std::vector<const SharedView *> views_;        // by rank, or null
  std::vector<std::vector<char>> operands_;      // copies of those that a result overlaps
  std::vector<std::vector<char>> parts_;         // by rank, of slices that are not reached directly
  size_t operand_ = 0;
  int64_t done_ = 0; // bytes of its slice
};

} // namespace tessera::runtime
