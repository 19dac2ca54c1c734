// An op with where its operands lie and where its results are wanted, as the plain data by which
// lib/sharding prices it.
#pragma once

#include "lib/sharding/FactorChoice.h"
#include "passes/reshard/ValueShardings.h"

namespace tessera {

sharding::PlacedOp placedOp(mlir::Operation *op, sharding::FactorRule rule,
                            const ValueShardings &shardings);

struct MovedBytes {
  double seconds = 0, wireBytes = 0; // that a device sends
  MovedBytes &operator+=(const MovedBytes &other) {
    seconds += other.seconds, wireBytes += other.wireBytes;
    return *this;
  }
};

// Of bringing a value of this shape from one sharding to another.
MovedBytes movedBytes(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                      const sharding::TensorSharding &from, const sharding::TensorSharding &to,
                      sharding::ReshardPlanner &planner);

// The cheapest way to compute an op by its rule: all seconds, and what operands and results send.
struct CostByRule : MovedBytes {
  double resultBytes = 0; // that a device makes
};
CostByRule cheapestByRule(mlir::Operation *op, const ValueShardings &shardings,
                          sharding::ReshardPlanner &planner);

} // namespace tessera
