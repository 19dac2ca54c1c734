// Where propagation ended in disagreement: factors along which an op's tensors are not sharded
// alike, and what kept each of them from following the others.
#pragma once

#include "lib/sharding/PropagationGraph.h"

namespace tessera::sharding {

enum class Refusal : uint8_t {
  None,       // it has what is proposed
  Closed,     // its dimension is closed
  OtherDim,   // the axis is in another dimension of it
  OtherAxes,  // its dimension is sharded along other axes
  Replicated, // the axis is explicitly replicated, or it is partial over it
  Uneven,     // its dimension is one of several that together would be sharded, and would be cut
  NotReached, // no flow in that direction
};

// What one tensor of an op (operands, then results) has along a factor.
struct Proposal {
  int32_t tensor;
  AxisRefs axes;
  Refusal refusal = Refusal::None; // of the conflict's `axes`
};

//   C = dot(A, B) with A [{"x"}, {}], B [{}, {"x"}]: C can have one
//     {factor i, axes {"x"}, [A {"x"}, C {} OtherDim]}
struct Conflict {
  int32_t op, factor;
  AxisRefs axes; // the longest that a tensor of the op has
  llvm::SmallVector<Proposal, 3> proposals;
};

// Of one op, in the order of its factors. Disagreement that costs nothing is no conflict: a tensor
// without axes of the whole is sliced where it is needed.
llvm::SmallVector<Conflict, 0> conflictsOf(const PropagationGraph &graph, int32_t op);

} // namespace tessera::sharding
