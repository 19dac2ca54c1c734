#include "lib/cost/FitCache.h"

#include "lib/cost/CacheWalk.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

double cacheOf(llvm::ArrayRef<CachePass> passes) {
  constexpr double seen = 1.25, finest = 1.02;
  if (passes.size() < 2 || passes.front().bytes <= 0)
    return 0;
  double least = passes.front().seconds, most = passes.back().seconds;
  for (const CachePass &pass : passes) {
    least = std::min(least, pass.seconds);
    most = std::max(most, pass.seconds);
  }
  if (most < seen * least)
    return 0;
  double best = 0, smallest = INFINITY;
  for (double capacity = passes.front().bytes; capacity <= passes.back().bytes;
       capacity *= finest) {
    double error = 0;
    for (const CachePass &pass : passes) {
      double held = (most - pass.seconds) / (most - least);
      error += std::pow(held - heldAfter(pass.bytes, capacity), 2);
    }
    if (error < smallest)
      smallest = error, best = capacity;
  }
  return best;
}

} // namespace tessera::cost
