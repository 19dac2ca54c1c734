#include "lib/cost/FitCache.h"

#include "lib/cost/CacheWalk.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

// How far the passes are from those of such a cache, where what it holds and what it does not take as
// long as is best for them: a sum of squares of relative errors.
static double errorOf(llvm::ArrayRef<CachePass> passes, const SharedCache &cache) {
  auto missedOf = [&](const CachePass &pass) {
    return 1 - heldAfter(pass.bytes, cache.bytes, cache.othersPerSecond * pass.round());
  };
  double weights = 0, missed = 0, seconds = 0, missedSquared = 0, missedSeconds = 0;
  for (const CachePass &pass : passes) {
    double weight = 1 / (pass.seconds * pass.seconds), x = missedOf(pass);
    weights += weight;
    missed += weight * x;
    seconds += weight * pass.seconds;
    missedSquared += weight * x * x;
    missedSeconds += weight * x * pass.seconds;
  }
  double spread = missedSquared - missed * missed / weights;
  double slope =
      spread > 1e-12 * weights ? (missedSeconds - missed * seconds / weights) / spread : 0;
  double held = (seconds - slope * missed) / weights, error = 0;
  for (const CachePass &pass : passes)
    error += std::pow(pass.seconds / (held + slope * missedOf(pass)) - 1, 2);
  return error;
}

SharedCache cacheOf(llvm::ArrayRef<CachePass> passes, double most) {
  constexpr double seen = 1.25, finest = 1.04, slowest = 0.01, fastest = 100;
  if (passes.size() < 3 || passes.front().bytes <= 0)
    return {};
  auto [least, longest] =
      std::minmax_element(passes.begin(), passes.end(), [](const CachePass &a, const CachePass &b) {
        return a.seconds < b.seconds;
      });
  if (least->seconds <= 0 || longest->seconds < seen * least->seconds)
    return {};
  SharedCache best;
  double smallest = INFINITY;
  auto tried = [&](const SharedCache &cache) {
    if (double error = errorOf(passes, cache); error < smallest)
      smallest = error, best = cache;
  };
  // Others bring, while the longest loop goes round once, so many times what the cache holds.
  double round = passes.back().round(),
         largest = std::clamp(most, passes.front().bytes, passes.back().bytes);
  for (double bytes = passes.front().bytes; bytes <= largest; bytes *= finest) {
    tried({bytes, 0});
    for (double times = slowest; round > 0 && times < fastest; times *= 1.2)
      tried({bytes, times * bytes / round});
  }
  return best;
}

} // namespace tessera::cost
