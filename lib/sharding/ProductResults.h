// Products whose result is wanted along other axes than their operands make it along.
#pragma once

#include "lib/cost/Topology.h"
#include "lib/sharding/PropagationGraph.h"

namespace tessera::sharding {

// Leaves the result of a product where its operands make it, when it is partial there and summing
// it up before it is moved to where propagation put it sends fewer bytes than doing both at once.
//
//   C = dot(A, B) with A [{}, {"x" of 4}], B [{"x"}, {"y" of 2}], C [{}, {"x"}]
//     C is made on [{}, {"y"}], partial over "x"
//     gathered along "y", reduce-scattered along "x":      1/2 + 3/4 of C
//     all-reduced along "x", its parts permuted:           3/4 + 1/4 of C    C becomes [{}, {"y"}]
//
// `annotated` is the graph before propagation: what has a sharding there, or is in a group, stays.
// `meshes` are those that the graph's values number. Returns how many results were changed.
int64_t reduceWhereMade(PropagationGraph &graph, const PropagationGraph &annotated,
                        llvm::ArrayRef<const Mesh *> meshes, const cost::Topology &topology);

} // namespace tessera::sharding
