// Rows that cross the boundaries of shards inside of an op: of windows, slices, scans, and what
// devices have made of their own rows where an op reduces along them.
#pragma once

#include "lib/sharding/FactorChoice.h"

namespace tessera::sharding {

// Seconds of moving them, where the op is computed by these axes.
double crossingSeconds(const PlacedOp &op, const FactorAxes &axes, ReshardPlanner &planner);

// Bytes that a device holds of a tensor that is sharded so.
double localBytes(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                  const TensorSharding &sharding);

} // namespace tessera::sharding
