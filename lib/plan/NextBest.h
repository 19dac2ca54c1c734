// What it would have cost to decide otherwise: for a value of a plan, the best plan in which it lies
// in other parts, with all else decided anew.
//
//   x . up . down on x=8        up [{}, {x}]: next best [{x}, {}], 12% more;
//                               [{}, {}] takes as long (each device uses a part of it only)
//
// Other parts: another number of shards along some dimension. What differs in the axes or their order
// alone is no other decision where axes are alike, as those of one machine mostly are.
#pragma once

#include "lib/plan/Rounds.h"

#include <optional>

namespace tessera::plan {

struct NextBest {
  Assignment values;  // of the whole program; empty where all else takes as long, or does not fit
  double seconds = 0; // of a step, as AssignmentPrices counts it
  bool isBest = true; // proven to half a percent; else there may be a better one
  // The best with the values as planned, to which it is compared: the plan, or what the search counts
  // less for. Where that takes longer than the next best, the plan was chosen for what is not counted.
  Assignment with;
  double withSeconds = 0;
  // Of the first value: layouts with which a step takes as long as planned, three at most. They are a
  // question of memory.
  std::vector<sharding::TensorSharding> asLong;
};

class NextBests {
public:
  // `prices` and `planned` are kept by reference. Solving is limited so that about `decisions` of them
  // take what one search for the plan does.
  NextBests(AssignmentPrices &prices, const Assignment &planned, const Options &options,
            size_t decisions);

  // Of values that are decided together: the same weight of every layer. None where there was nothing
  // to decide: by annotations, by sizes.
  std::optional<NextBest> of(llvm::ArrayRef<int32_t> values);

  // -1 of what any device can make for itself. Values of one vertex lie alike.
  int32_t vertexOf(int32_t value) const { return rounds.getProblem().vertexOf(value); }

  // How many decisions are worth their time: fewer where each takes longer.
  size_t affordable() const;

private:
  std::optional<BestFound> bestWithout(llvm::ArrayRef<int32_t> values, Rounds::IsOut isOut);

  const Assignment &planned;
  Rounds rounds;
  Assignment reference; // the plan, or one that the search counts less for
  double seconds = 0;   // of it
  RoundLimits limits;
};

// In how many parts each dimension is.
llvm::SmallVector<int64_t, 4> partsOf(const sharding::TensorSharding &sharding);

} // namespace tessera::plan
