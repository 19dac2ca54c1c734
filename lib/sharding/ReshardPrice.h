// What one step of a reshard costs.
#pragma once

#include "lib/cost/CollectiveGroup.h"
#include "lib/sharding/ReshardSearch.h"

namespace tessera::sharding {

struct StepPrice {
  double seconds, wireBytes;
  double cores = 0; // of these seconds, what devices do for it themselves (cost::CollectiveTime)
};

// Of every kind but Retile, and of one round of an Exchange. `before` and `after` are the bytes of
// the local array, `group` the axes along which it moves.
StepPrice priceOf(ReshardKind kind, double before, double after, llvm::ArrayRef<AxisRef> group,
                  const Mesh &mesh, const cost::Topology &topology);
// The same along axes of which a search has asked this once.
StepPrice priceAmong(ReshardKind kind, double before, double after,
                     const cost::CollectiveGroup &group, const Mesh &mesh,
                     const cost::Topology &topology);

// Of a Retile of `rows` rows in all, `bytes` of them on each of the devices along `axes`.
StepPrice retilePrice(int64_t rows, int64_t fromTile, int64_t toTile, double bytes,
                      llvm::ArrayRef<AxisRef> axes, const Mesh &mesh,
                      const cost::Topology &topology);

} // namespace tessera::sharding
