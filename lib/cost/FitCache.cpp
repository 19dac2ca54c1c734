#include "lib/cost/FitCache.h"

#include "lib/cost/CacheWalk.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

// How far the passes are from those of such a cache, where what it holds and what it does not take as
// long as is best for them: a sum of squares of relative errors.
static double errorOf(llvm::ArrayRef<CachePass> passes, double capacity) {
  double weights = 0, lost = 0, seconds = 0, lostSquared = 0, lostSeconds = 0;
  for (const CachePass &pass : passes) {
    double weight = 1 / (pass.seconds * pass.seconds), x = 1 - heldAfter(pass.bytes, capacity);
    weights += weight;
    lost += weight * x;
    seconds += weight * pass.seconds;
    lostSquared += weight * x * x;
    lostSeconds += weight * x * pass.seconds;
  }
  double spread = lostSquared - lost * lost / weights;
  double slope = spread > 1e-12 * weights ? (lostSeconds - lost * seconds / weights) / spread : 0;
  double held = (seconds - slope * lost) / weights, error = 0;
  for (const CachePass &pass : passes) {
    double expected = held + slope * (1 - heldAfter(pass.bytes, capacity));
    error += std::pow(pass.seconds / expected - 1, 2);
  }
  return error;
}

double cacheOf(llvm::ArrayRef<CachePass> passes) {
  constexpr double seen = 1.25, finest = 1.02;
  if (passes.size() < 3 || passes.front().bytes <= 0)
    return 0;
  auto [least, most] =
      std::minmax_element(passes.begin(), passes.end(), [](const CachePass &a, const CachePass &b) {
        return a.seconds < b.seconds;
      });
  if (least->seconds <= 0 || most->seconds < seen * least->seconds)
    return 0;
  double best = 0, smallest = INFINITY;
  for (double capacity = passes.front().bytes; capacity <= passes.back().bytes; capacity *= finest)
    if (double error = errorOf(passes, capacity); error < smallest)
      smallest = error, best = capacity;
  return best;
}

} // namespace tessera::cost
