// Propagation of shardings through a whole program, on plain data.
#pragma once

#include "lib/sharding/FactorAxes.h"
#include "lib/sharding/FactorPropagation.h"

#include <functional>

namespace tessera::sharding {

// When an op takes part. Shardings flow first where they cost nothing.
enum class OpClass : uint8_t {
  PassThrough, // elementwise, reshape, transpose, data-flow edge: both ways, at first only where
               // nothing else uses the operands
  Slice,       // dynamic_slice and dynamic_update_slice: forward along with them
  Broadcast,   // backward with the rest, forward last
  Other,       // dot, reduce, ..
  Fixed,       // a barrier: always, in its own direction
  Return,      // a returned value and the function's result: one after another, around each round
};

// A value, or several that are always sharded alike (a loop's result and its block arguments).
struct PropagatedValue {
  Shape shape;
  int64_t elementBytes = 4;
  bool free = false;  // a constant: any device can make it for itself
  bool last = false;  // its axes wait until those of all others have gone as far as they go
  int32_t mesh = -1;  // -1: none yet
  int32_t group = -1; // values of one sharding group are sharded alike
  TensorSharding sharding;
  llvm::SmallVector<int32_t, 4> ops; // that use or make it, in program order
  size_t outside = SIZE_MAX;         // how many of them, the first, are not in a loop's regions
};

// How a value inside a manual computation looks from outside: its dimensions begin with the manual
// axes.
struct ManualView {
  llvm::SmallVector<AxisRefs, 4> dims;
  AxisRefs replicated, unreduced;
};

TensorSharding seenThrough(const ManualView &view, const TensorSharding &inside);

struct PropagatedOp {
  int32_t rule; // index into rules: equal rules are stored once
  OpClass opClass = OpClass::Other;
  bool elementwise = false;
  double flops = 0;                      // of the whole computation
  bool singleUse = false;                // no operand is used by another op
  Flow flow = Flow::Both;                // of Fixed ops
  llvm::SmallVector<int32_t, 2> blocked; // factors along which nothing flows
  llvm::SmallVector<int32_t, 4> operands, results;
  int32_t viewed = -1; // the tensor (operands, then results) seen through `view`
  ManualView view;
};

// Why a value is sharded along an axis: `op` brought it from `source`.
struct PropagationStep {
  int32_t value, op, source; // source: -1 when several agreed; op: -1 for a sharding group
  AxisRefs axes;
};

// Seconds of op number `op` on mesh number `mesh` with its tensors sharded so; see ConflictCost.h.
using GraphSeconds =
    std::function<double(int32_t op, int32_t mesh, llvm::ArrayRef<TensorSharding> tensors)>;

struct PropagationGraph {
  std::vector<FactorRule> rules;
  std::vector<PropagatedValue> values;
  std::vector<PropagatedOp> ops;      // in program order
  std::vector<PropagationStep> steps; // filled by `propagate` when `recordSteps`
  bool recordSteps = false;
  GraphSeconds seconds; // decides conflicts; without it the larger tensor does
};

// Shards all values as far as annotations and rules say. Rounds: by user priority; in each,
// pass-through ops alone first, then all; within a round to a fixed point, ops that see a change
// being visited again.
void propagate(PropagationGraph &graph);

} // namespace tessera::sharding
