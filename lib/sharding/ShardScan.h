// How each shard along a dimension learns what all shards before it come to: an exclusive scan of
// one total a shard.
#pragma once

#include "lib/cost/Topology.h"

namespace tessera::sharding {

// Doubling (Hillis & Steele 1986, Data parallel algorithms): in step i everyone passes on what it
// has of the last 2^i shards; the fewest steps there can be, ceil(log2 p), of all totals each.
// A pipeline: totals go from shard to shard in `chunks` parts, each shard adding its own; p - 2 +
// chunks steps of one part each, which is all but the fewest bytes: every shard but the first has
// to receive one element for each total.
struct ShardScan {
  int64_t chunks = 0; // of a pipeline; 0: doubling
  double seconds = 0;
};

// The faster one for `totals` elements a shard.
ShardScan planShardScan(const cost::Topology &topology, const Mesh &mesh, int64_t totals,
                        int64_t elementBytes, llvm::ArrayRef<AxisRef> group);

// The shifts of either, by how many shards.
int64_t doublingSteps(int64_t shards);
inline int64_t pipelineSteps(int64_t shards, int64_t chunks) { return shards - 2 + chunks; }

} // namespace tessera::sharding
