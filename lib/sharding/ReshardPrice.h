// What one step of a reshard costs.
#pragma once

#include "lib/cost/CollectiveGroup.h"
#include "lib/sharding/ReshardSearch.h"

namespace tessera::sharding {

struct StepPrice {
  double seconds, wireBytes;
  double cores = 0; // of these seconds, what devices do for it themselves (cost::CollectiveTime)
};

// Of one that moves nothing between devices: ties are broken towards fewer steps.
inline constexpr StepPrice kLocalStep{1e-12, 0};

// Of every kind but Retile, and of one round of an Exchange. `before` and `after` are the bytes of
// the local array, `group` what of the axes along which it moves a search has asked once, or the axes.
StepPrice priceOf(ReshardKind kind, double before, double after, const cost::CollectiveGroup &group,
                  const Mesh &mesh, const cost::Topology &topology);
inline StepPrice priceOf(ReshardKind kind, double before, double after,
                         llvm::ArrayRef<AxisRef> axes, const Mesh &mesh,
                         const cost::Topology &topology) {
  return priceOf(kind, before, after, cost::collectiveGroup(topology, mesh, axes), mesh, topology);
}

// Of a Retile of `rows` rows in all, `bytes` of them on each of the devices along `axes`.
StepPrice retilePrice(int64_t rows, int64_t fromTile, int64_t toTile, double bytes,
                      llvm::ArrayRef<AxisRef> axes, const Mesh &mesh,
                      const cost::Topology &topology);

} // namespace tessera::sharding
