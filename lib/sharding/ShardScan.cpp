#include "lib/sharding/ShardScan.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

namespace tessera::sharding {

int64_t doublingSteps(int64_t shards) { return llvm::Log2_64_Ceil(shards); }

ShardScan planShardScan(const cost::Topology &topology, const Mesh &mesh, int64_t totals,
                        int64_t elementBytes, llvm::ArrayRef<AxisRef> group) {
  int64_t shards = shardCount(group);
  auto seconds = [&](int64_t steps, int64_t elements) {
    return double(steps) * cost::collectiveSeconds(topology, mesh, cost::CollectiveKind::Permute,
                                                   double(elements * elementBytes), group);
  };
  ShardScan best{0, seconds(doublingSteps(shards), totals)};
  if (shards <= 2)
    return best; // one step of all totals: nothing is less
  // More parts than sixteen times the steps that fill the pipeline save less than a sixteenth.
  cost::Link link = topology.linkAlong(mesh, group);
  double bytes = double(totals * elementBytes);
  double most = double(std::min(totals, 16 * (shards - 2)));
  double balanced =
      std::sqrt(double(shards - 2) * bytes / (link.beta * std::max(link.alpha, 1e-12)));
  int64_t chunks = int64_t(std::clamp(std::round(balanced), 1.0, most));
  chunks = llvm::divideCeil(totals, llvm::divideCeil(totals, chunks)); // no empty last ones
  double pipelined = seconds(pipelineSteps(shards, chunks), llvm::divideCeil(totals, chunks));
  return pipelined < best.seconds ? ShardScan{chunks, pipelined} : best;
}

} // namespace tessera::sharding
