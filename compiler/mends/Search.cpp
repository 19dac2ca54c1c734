#include "compiler/mends/Search.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

namespace tessera::mends {

namespace {

constexpr double kWorthwhile = 0.01; // of a step's time
constexpr double kMoreMemory = 1.1;

bool isMend(const Outcome &now, const Outcome &then) {
  return then.time.seconds <= (1 - kWorthwhile) * now.time.seconds &&
         double(then.peakBytes) <= kMoreMemory * double(now.peakBytes);
}

} // namespace

int trialsFor(size_t ops) { return int(std::clamp<size_t>(60000 / (ops + 1), 24, 100)); }

SearchResult searchMends(Trials &trials, std::vector<Knob> knobs, const Outcome &now, int limit) {
  SearchResult result;
  std::vector<size_t> next(knobs.size());
  std::vector<double> helped(knobs.size());
  std::set<std::string> known;
  std::vector<size_t> order(knobs.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  for (bool more = true; more;) {
    more = false;
    for (size_t knob : order) {
      if (next[knob] == knobs[knob].changes.size())
        continue;
      Change &change = knobs[knob].changes[next[knob]++];
      if (!known.insert(change.text).second)
        continue;
      if (result.tried == limit) {
        ++result.untried;
        continue;
      }
      more = true;
      ++result.tried;
      std::optional<Outcome> then = trials.run(change.edits);
      if (!then || !isMend(now, *then))
        continue;
      helped[knob] = std::max(helped[knob], now.time.seconds - then->time.seconds);
      result.mends.push_back({std::move(change), std::move(*then)});
    }
    llvm::stable_sort(order, [&](size_t a, size_t b) { return helped[a] > helped[b]; });
  }
  for (size_t knob = 0; knob < knobs.size(); ++knob)
    result.untried += int(knobs[knob].changes.size() - next[knob]);
  llvm::stable_sort(result.mends, [](const FoundMend &a, const FoundMend &b) {
    return a.then.time.seconds < b.then.time.seconds;
  });
  return result;
}

} // namespace tessera::mends
