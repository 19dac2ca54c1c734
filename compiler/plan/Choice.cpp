#include "compiler/plan/Choice.h"

#include "compiler/plan/NoneFits.h"
#include "lib/plan/Ranking.h"

#include <map>

namespace tessera::planning {

bool isPossible(const Candidate &tried, MemoryBound bound) {
  return tried.tried.error.empty() && !(bound && tried.tried.peakBytes > *bound);
}

bool fitsAsCounted(const Candidate &each, MemoryBound bound) {
  return !bound || each.bytes <= double(*bound);
}

const Candidate &leastCounted(llvm::ArrayRef<Candidate> candidates) {
  return *llvm::min_element(
      candidates, [](const Candidate &a, const Candidate &b) { return a.bytes < b.bytes; });
}

int64_t needed(const Candidate &each) {
  return each.tried.error.empty() ? each.tried.peakBytes : each.tried.leastBytes;
}

static bool isQuicker(const Candidate &a, const Candidate &b) {
  if (a.tried.time.seconds != b.tried.time.seconds)
    return a.tried.time.seconds < b.tried.time.seconds;
  return a.tried.peakBytes < b.tried.peakBytes;
}

static plan::Ranked rankedAs(const Candidate &each) {
  plan::Ranked ranked;
  ranked.counted = each.seconds;
  ranked.axes = each.onMesh->getMesh().axes.size();
  ranked.isNamed = each.kind != kSearch;
  if (each.isTried) {
    ranked.predicted = each.tried.time.seconds;
    ranked.bytes = double(each.tried.peakBytes);
  }
  return ranked;
}

void orderCandidates(std::vector<Candidate> &candidates, bool isLarge, MemoryBound bound) {
  auto orderBy = [&](double Candidate::*counted) {
    std::vector<plan::Ranked> ranked;
    for (const Candidate &each : candidates) {
      ranked.push_back(rankedAs(each));
      ranked.back().counted = each.*counted;
      if (isLarge) {
        ranked.back().fits = fitsAsCounted(each, bound);
        ranked.back().bytes = each.bytes;
      }
    }
    return plan::inOrder(ranked);
  };
  auto fits = [&](const Candidate &each) { return fitsAsCounted(each, bound); };
  std::vector<size_t> order;
  if (!isLarge)
    order = plan::byTurns(orderBy(&Candidate::likely), orderBy(&Candidate::cautious));
  else if (llvm::any_of(candidates, fits))
    order = orderBy(&Candidate::seconds);
  else // with more computed again the one that needs least may fit
    order = orderBy(&Candidate::bytes);
  std::vector<Candidate> ordered;
  for (size_t number : order)
    ordered.push_back(std::move(candidates[number]));
  candidates = std::move(ordered);
}

std::string choose(llvm::ArrayRef<Candidate> candidates, MemoryBound bound, double given,
                   Planned &planned) {
  std::map<std::string, const Candidate *> kinds;
  std::vector<const Candidate *> possible;
  const Candidate *least = nullptr, *failed = nullptr;
  for (const Candidate &each : candidates) {
    if (!each.isTried)
      continue;
    if (int64_t needs = needed(each); needs && (!least || needs < needed(*least)))
      least = &each;
    if (!each.tried.error.empty())
      failed = &each;
    if (!isPossible(each, bound))
      continue;
    const Candidate *&best = kinds[each.kind];
    if (!best || isQuicker(each, *best))
      best = &each;
    possible.push_back(&each);
  }
  bool isTooLarge = failed && failed->tried.isTooLarge;
  if (possible.empty() && (least || isTooLarge))
    return noneFits(candidates, least, bound.value_or(0), given);
  if (possible.empty())
    return failed ? failed->tried.error : "no plan was found";
  std::vector<plan::Ranked> ranked;
  for (const Candidate *each : possible)
    ranked.push_back(rankedAs(*each));
  planned.best = possible[plan::bestOf(ranked)];
  planned.others.clear();
  for (const auto &[kind, best] : kinds)
    if (kind != planned.best->kind)
      planned.others.push_back(best);
  llvm::stable_sort(planned.others,
                    [](const Candidate *a, const Candidate *b) { return isQuicker(*a, *b); });
  return "";
}

} // namespace tessera::planning
