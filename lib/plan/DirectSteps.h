// The steps of a reshard without a search: each axis goes the shortest way, those that make arrays
// smaller first.
//
//   [{x}, {}] partial y -> [{}, {y}]     reduce-scatter y to dim 1, all-gather x
//   [{x}, {}, {z}] -> [{z}, {x}, {}]     all-to-all x, all-to-all z
#pragma once

#include "lib/sharding/ReshardSearch.h"

namespace tessera::plan {

// What it moves follows from the tensor's bytes: it has so much of each of them on a device before and
// after.
struct RelativeStep {
  sharding::ReshardKind kind;
  double before, after;
  sharding::AxisRefs axes;
};

// `to` is partial over axes of `from` only.
std::vector<RelativeStep> directSteps(const sharding::TensorSharding &from,
                                      const sharding::TensorSharding &to);

} // namespace tessera::plan
