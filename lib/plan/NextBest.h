// What it would have cost to decide otherwise: for a value of a plan, the best plan in which it lies
// in other parts, with all else decided anew.
//
//   x . up . down on x=8        up [{}, {x}]: next best [{x}, {}], 12% more;
//                               [{}, {}] takes as long (each device uses a part of it only)
//
// Other parts: another number of shards along some dimension. What differs in the axes or their order
// alone is no other decision where axes are alike, as those of one machine mostly are.
#pragma once

#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/Formulation.h"
#include "lib/solver/Solve.h"

#include <optional>
#include <set>

namespace tessera::plan {

struct NextBest {
  Assignment values;  // of the whole program; empty where all else takes as long, or does not fit
  double seconds = 0; // of a step, as AssignmentPrices counts it
  bool isBest = true; // proven, as far as the search's own sum goes; else there may be a better one
  // Of the first value: layouts with which a step takes as long as planned, three at most. They are a
  // question of memory.
  std::vector<sharding::TensorSharding> asLong;
};

class NextBests {
public:
  // All are kept by reference. Solving is limited so that about `decisions` of them take what one
  // search for the plan does.
  NextBests(AssignmentPrices &prices, const Assignment &planned, const Options &options,
            size_t decisions);

  // Of values that are decided together: the same weight of every layer. None where there was nothing
  // to decide: by annotations, by sizes.
  std::optional<NextBest> of(llvm::ArrayRef<int32_t> values);

  // -1 of what any device can make for itself. Values of one vertex lie alike.
  int32_t vertexOf(int32_t value) const { return problem.vertexOf(value); }

private:
  using Excluded = std::set<llvm::SmallVector<int64_t, 4>>; // parts

  // None where nothing else is possible.
  std::optional<NextBest> without(llvm::ArrayRef<int32_t> values, const Excluded &excluded);
  NextBest solved();
  // With all else as planned: where copies are shared, this may be less than what was solved.
  void considerAlone(llvm::ArrayRef<int32_t> values, const Excluded &excluded, NextBest &best);

  AssignmentPrices &prices;
  const Assignment &planned;
  double seconds;      // of it
  SharedCopies copies; // each op pays for its own
  Formulation problem;
  solver::Options limits;
  int64_t left = 2'000'000; // ops of assignments that may be priced
};

// In how many parts each dimension is.
llvm::SmallVector<int64_t, 4> partsOf(const sharding::TensorSharding &sharding);

} // namespace tessera::plan
