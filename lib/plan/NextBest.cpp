#include "lib/plan/NextBest.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <set>

namespace tessera::plan {

using sharding::TensorSharding;

llvm::SmallVector<int64_t, 4> partsOf(const TensorSharding &sharding) {
  llvm::SmallVector<int64_t, 4> parts;
  for (const sharding::DimSharding &dim : sharding.dims)
    parts.push_back(sharding::shardCount(dim.axes));
  return parts;
}

static constexpr double kProven = 5e-3; // a proof that is good enough
static constexpr double kAsLong = 1e-3; // of a step

// What is compiled may fit where the search counts more than it takes.
static int64_t capacityFor(AssignmentPrices &prices, const Assignment &planned,
                           const Options &options) {
  if (!options.memory)
    return 0;
  prices.seconds(planned);
  return std::max(options.memory, int64_t(std::ceil(prices.peakBytes(planned))));
}

NextBests::NextBests(AssignmentPrices &prices, const Assignment &planned, const Options &options,
                     size_t decisions)
    : planned(planned), rounds(prices, capacityFor(prices, planned, options)), reference(planned) {
  // A plan that was chosen as it is compiled may not be the least by the search's count; what its
  // decisions are worth is told by the plan that is.
  BestFound best;
  seconds = rounds.consider(planned, best);
  rounds.share(best.uses);
  constexpr int64_t kMostRounds = 2, kMostEntries = 10'000'000; // of matrices, in all rounds
  limits.effort = options.effort;
  limits.proven = kProven;
  limits.most = std::min(kMostRounds, kMostEntries / rounds.entries() / int64_t(decisions + 1));
  for (size_t shares = decisions; shares > 1 && limits.effort > 1; shares /= 4)
    --limits.effort; // each is a fourth of the steps
  rounds.run(limits, best);
  if (best.seconds < seconds * (1 - kAsLong)) {
    reference = std::move(best.values);
    seconds = best.seconds;
  }
}

size_t NextBests::affordable() const {
  constexpr int64_t kLeast = 12, kMost = 60,
                    kMostEntries = 60'000'000; // of matrices, for all of them
  return std::clamp(kMostEntries / rounds.entries(), kLeast, kMost);
}

std::optional<NextBest> NextBests::of(llvm::ArrayRef<int32_t> values) {
  constexpr size_t kMostAsLong = 3;
  std::set<llvm::SmallVector<int64_t, 4>> excluded; // parts
  for (int32_t v : values)
    excluded.insert(partsOf(planned[v]));
  NextBest found;
  found.withSeconds = seconds;
  found.with = reference;
  bool isAsPlanned =
      llvm::all_of(values, [&](int32_t v) { return partsOf(reference[v]) == partsOf(planned[v]); });
  if (!isAsPlanned) { // the least count has it otherwise
    std::optional<BestFound> with =
        bestWithout(values, [&](int32_t v, const TensorSharding &sharding) {
          return partsOf(sharding) != partsOf(planned[v]);
        });
    if (with && !with->values.empty()) {
      found.with = std::move(with->values);
      found.withSeconds = with->seconds;
    }
  }
  while (true) {
    std::optional<BestFound> next =
        bestWithout(values, [&](int32_t, const TensorSharding &sharding) {
          return excluded.contains(partsOf(sharding));
        });
    if (!next)
      return found.asLong.empty() ? std::nullopt : std::optional(std::move(found));
    if (!next->values.empty() &&
        std::abs(next->seconds - found.withSeconds) <= found.withSeconds * kAsLong &&
        found.asLong.size() < kMostAsLong) {
      found.asLong.push_back(next->values[values.front()]);
      for (int32_t v : values)
        excluded.insert(partsOf(next->values[v]));
      continue;
    }
    found.isBest = next->values.empty()
                       ? next->isImpossible
                       : next->seconds - next->lowerBound <= kProven * next->seconds;
    found.values = std::move(next->values);
    found.seconds = next->seconds;
    return found;
  }
}

std::optional<BestFound> NextBests::bestWithout(llvm::ArrayRef<int32_t> values,
                                                Rounds::IsOut isOut) {
  std::optional<BestFound> found;
  if (rounds.leaveOut(values, isOut)) {
    rounds.run(limits, found.emplace());
    if (!found->fits)
      found->values.clear();
  }
  rounds.allowAll();
  return found;
}

} // namespace tessera::plan
