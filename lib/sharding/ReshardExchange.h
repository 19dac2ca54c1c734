// A reshard whose devices send each other exactly what they lack.
#pragma once

#include "lib/sharding/ReshardSearch.h"
#include <optional>

namespace tessera::sharding {

// Parts of the local arrays in rounds of permutes, then a gather along the axes that the target
// does not use:
//   7x2 devices, 16 rows from {x,y} (tile 2) to {y} (tile 8): each device gets the two of its eight
//   rows that are its part along x, and gathers the others
// Uneven tiles and two shards against three are no worse for it than others. None where it takes at
// least `seconds`, and for partial values.
std::optional<ReshardPlan> planByExchange(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                          int64_t elementBytes, const LocalLayout &from,
                                          const LocalLayout &to, const cost::Topology &topology,
                                          double seconds);

} // namespace tessera::sharding
