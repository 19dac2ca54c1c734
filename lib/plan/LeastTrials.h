// Of plans that do not fit into a device's memory: whose least is asked for, which takes some fifty
// programs each. What holds least as it is comes first. Plans that are given more than there is fit in no
// way, and are asked for the error alone: a few, as many as programs of their size have time for, and none
// that is given more than another needs.
//
//   bound 10     peak 12, given 4     peak 14, given 11     peak 16, given 11     peak 18, given 6
//   asked        first                second                of small programs     then
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::plan {

struct TooLarge {
  int64_t peakBytes = 0;  // as it is
  int64_t givenBytes = 0; // arguments and results: no program of the plan needs less
};

// Whether a plan may fit that holds `counted` bytes, as the search counts, with nothing computed again. A rule,
// not a proof.
bool isInReach(double counted, int64_t bound);

class LeastTrials {
public:
  // `ops`: of the program that is planned.
  LeastTrials(llvm::ArrayRef<TooLarge> plans, int64_t bound, size_t ops);

  // The number of the next one to ask; none where all were that are worth it.
  std::optional<size_t> next();
  // What the last one needs; 0 where that is not known.
  void needs(int64_t bytes);

private:
  std::vector<TooLarge> plans;
  std::vector<size_t> order;
  size_t at = 0;
  int64_t bound, least = 0;
  size_t inVain; // how many more may be asked that cannot fit
};

} // namespace tessera::plan
