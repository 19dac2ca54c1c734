#include "lib/plan/LeastHeld.h"

#include "lib/plan/Search.h"

namespace tessera::plan {

constexpr int kHalvings = 4;        // to a sixteenth of what lies between; a search each
constexpr double kClose = 1 + 0.02; // to what no plan is below

LeastHeld leastHeld(AssignmentPrices &prices, const Assignment &known, double least) {
  prices.seconds(known);
  LeastHeld held{known, prices.fitted(known, 0).bytes};
  double tooFew = least;
  for (int i = 0; i < kHalvings && held.bytes > kClose * tooFew; ++i) {
    Options options;
    options.memory = int64_t((tooFew + held.bytes) / 2);
    options.effort = 1;
    BestFound found = bestFrom(prices, {&held.values}, options, /*isThorough=*/false);
    if (!found.fits)
      tooFew = double(options.memory);
    else
      held = {std::move(found.values), found.peakBytes};
  }
  return held;
}

} // namespace tessera::plan
