#include "lib/sharding/ReshardPrice.h"

#include <algorithm>

namespace tessera::sharding {

StepPrice priceOf(ReshardKind kind, double before, double after, const cost::CollectiveGroup &group,
                  const Mesh &mesh, const cost::Topology &topology) {
  using cost::CollectiveKind;
  int64_t devices = group.size;
  auto price = [&](CollectiveKind collective, double bytes) {
    cost::CollectiveTime time = cost::collectiveTime(topology, mesh, collective, bytes, group);
    return StepPrice{kLocalStep.seconds + time.seconds(),
                     cost::wireBytes(collective, bytes, devices), time.cores};
  };
  switch (kind) {
  case ReshardKind::Slice:
  case ReshardKind::View:
  case ReshardKind::Retile:
    return kLocalStep;
  case ReshardKind::Broadcast:
    return price(CollectiveKind::Broadcast, before);
  case ReshardKind::AllGather:
    return price(CollectiveKind::AllGather, after);
  case ReshardKind::AllToAll: // padding travels, too
    return price(CollectiveKind::AllToAll, std::max(before, after));
  case ReshardKind::Permute:
  case ReshardKind::Exchange:
    return price(CollectiveKind::Permute, before);
  case ReshardKind::AllReduce:
    return price(CollectiveKind::AllReduce, before);
  case ReshardKind::ReduceScatter:
    return price(CollectiveKind::ReduceScatter, std::max(before, after * double(devices)));
  }
  return {};
}

StepPrice retilePrice(int64_t rows, int64_t fromTile, int64_t toTile, double bytes,
                      llvm::ArrayRef<AxisRef> axes, const Mesh &mesh,
                      const cost::Topology &topology) {
  StepPrice price = kLocalStep;
  if (axes.empty())
    return price;
  for (RetileShift shift : retileShifts(rows, shardCount(axes), fromTile, toTile)) {
    if (shift.distance == 0)
      continue;
    double moved = bytes / fromTile * shift.rows;
    price.seconds +=
        cost::collectiveSeconds(topology, mesh, cost::CollectiveKind::Permute, moved, axes);
    price.wireBytes += moved;
  }
  return price;
}

} // namespace tessera::sharding
