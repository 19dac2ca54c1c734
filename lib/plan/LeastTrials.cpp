#include "lib/plan/LeastTrials.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace tessera::plan {

constexpr size_t kMostOps = 3000; // of all that are asked in vain

// Of 22 models and programs none could do with less than a third of its unbounded peak.
constexpr double kMostSaved = 3;

bool isInReach(double counted, int64_t bound) { return counted <= kMostSaved * double(bound); }

LeastTrials::LeastTrials(llvm::ArrayRef<TooLarge> given, int64_t bound, size_t ops)
    : plans(given.begin(), given.end()), order(given.size()), bound(bound),
      inVain(1 + kMostOps / (ops + 1)) {
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order,
                    [&](size_t a, size_t b) { return plans[a].peakBytes < plans[b].peakBytes; });
}

std::optional<size_t> LeastTrials::next() {
  for (; at < order.size(); ++at) {
    int64_t given = plans[order[at]].givenBytes;
    bool isHopeless = given >= bound;
    if (isHopeless && (inVain == 0 || (least && given >= least)))
      continue;
    inVain -= isHopeless;
    return order[at++];
  }
  return std::nullopt;
}

void LeastTrials::needs(int64_t bytes) {
  if (bytes && (!least || bytes < least))
    least = bytes;
}

} // namespace tessera::plan
