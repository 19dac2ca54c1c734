// What the reshards of a module move, as predicted before they become collectives.
#pragma once

#include "lib/sharding/ReshardSearch.h"
#include "passes/reshard/ValueShardings.h"

namespace tessera {

const sharding::ReshardPlan &planOf(sdy::ReshardOp op, const ValueShardings &shardings,
                                    sharding::ReshardPlanner &planner);

// "all-gather, slice"
std::string stepsText(const sharding::ReshardPlan &plan);

struct Movement {
  double seconds = 0;
  double wireBytes = 0; // that a device sends
  double computing =
      0; // seconds of what ops compute beside them, on shards or on all devices alike
};

// Of all reshards, trips of counted loops included. Rows that cross shards inside of an op (halos)
// are not in it.
Movement movementOf(mlir::ModuleOp module);

} // namespace tessera
