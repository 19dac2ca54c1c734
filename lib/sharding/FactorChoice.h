// Which axes each factor of an op gets: the choice that costs the least time to move its operands
// there, to compute, and to bring its results where they are wanted.
#pragma once

#include "lib/sharding/FactorAxes.h"
#include "lib/sharding/ReshardSearch.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tessera::sharding {

struct PlacedTensor {
  TensorSharding sharding; // where it is (operands) or is wanted (results)
  int64_t elementBytes = 0;
  bool free = false; // an operand that any device can make for itself: constants
  ReductionKind reduction = ReductionKind::Sum;     // of a partial operand
  llvm::SmallVector<TensorSharding, 1> copies = {}; // where an operand is already, besides
  double share = 1; // of the cost of moving an operand: one out of the rounds of a loop that all
                    // use what is moved once
};

struct PlacedOp {
  RuledOp op;
  std::vector<PlacedTensor> operands, results;
  double flops = 0; // of the whole computation
};

struct FactorChoice {
  FactorAxes axes;
  double seconds;
};

// Seconds to bring a tensor from one sharding to another.
using MoveSeconds =
    llvm::function_ref<double(const Shape &shape, int64_t elementBytes, const TensorSharding &from,
                              const TensorSharding &to)>;

// Moves are priced by the search for their steps, or as `moves` says: who asks for many has them in tables.
FactorChoice chooseFactorAxes(const PlacedOp &op, ReshardPlanner &planner,
                              MoveSeconds moves = nullptr);

} // namespace tessera::sharding
