// Which ops XLA:CPU hands to a library together, decided on plain data: the clusters of reductions.
//
//   s -- max -- bcast -- sub -- exp --+-- sum -- 1/s -- bcast --+       one cluster, when 1/s is
//   |                     |           |                         |       large enough to be a member
//   +---------------------+           +------------------------ mul -- convert -- dot
//
// A node joins the cluster that all its users are in, so a cluster has one result; it counts when a
// reduction is in it. What is in a cluster rounds otherwise than what is not
// (docs/rationale/narrow-floats.md).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace tessera::fusion {

// The library gets arrays of this many elements; XLA keeps those of 4,032.
inline constexpr int64_t kLargeArray = 4'096;

struct ClusterNode {
  enum Kind : uint8_t {
    Outside,
    Member,
    Reduction,
    Edge, // joins a cluster, but what it reads doesn't: only its rounding is the cluster's affair
  };
  Kind kind = Outside;
  llvm::SmallVector<int, 4> users; // later nodes; -1: one that reads a copy, or isn't listed
};

// For each node the last node of its cluster; -1 when it is in none.
std::vector<int> reductionClusters(llvm::ArrayRef<ClusterNode> nodes);

} // namespace tessera::fusion
