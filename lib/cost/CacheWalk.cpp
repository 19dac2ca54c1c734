#include "lib/cost/CacheWalk.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

double heldAfter(double touched, double capacity, double others) {
  if (capacity <= 0)
    return touched > 0 || others > 0 ? 0 : 1;
  if (others <= 0)
    return touched <= capacity ? 1 : std::exp(2 - 2 * touched / capacity);
  // What misses, from above: the curve of which it is the last zero is convex.
  double missed = 1;
  for (int step = 0; step < 8; ++step) {
    double held = std::exp(-(missed * touched + others) / capacity);
    missed -= (missed - 1 + held) / (1 - held * touched / capacity);
  }
  return std::clamp(1 - missed, 0.0, 1.0);
}

void CacheWalk::split(uint64_t at) {
  auto next = ranges_.upper_bound(at);
  if (next == ranges_.begin())
    return;
  auto range = std::prev(next);
  if (range->first == at || range->second.end <= at)
    return;
  Range &rest = ranges_[at] = range->second;
  rest.at += static_cast<double>(at - range->first) * rest.pace;
  range->second.end = at;
}

void CacheWalk::forget(uint64_t begin, uint64_t end) {
  if (begin >= end)
    return;
  split(begin);
  split(end);
  ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
}

// By one of so many cores, which touch them in their order.
double CacheWalk::held(uint64_t begin, uint64_t end, double sharers, double pace) {
  split(begin);
  split(end);
  double warm = 0;
  auto last = ranges_.lower_bound(end);
  for (auto it = ranges_.lower_bound(begin); it != last; ++it) {
    const Range &range = it->second;
    double now = clock_ + static_cast<double>(it->first - begin) * pace;
    double since = range.at >= begun_ ? 0 : std::max(now - range.at, 0.0);
    warm += heldAfter(since, capacity_, others_ - range.others) *
            static_cast<double>(range.end - it->first) / std::max(range.sharers, sharers);
  }
  return warm;
}

double CacheWalk::take(uint64_t begin, uint64_t end, double bytes) {
  if (begin >= end)
    return 0;
  double all = static_cast<double>(end - begin), warm = held(begin, end, 1, 1);
  if (bytes < all)
    return warm * bytes / all;
  forget(begin, end);
  return warm;
}

double CacheWalk::touch(uint64_t begin, uint64_t end, double seen, double sharers) {
  if (begin >= end)
    return 0;
  auto bytes = static_cast<double>(end - begin);
  double pace = seen / sharers / bytes, warm = held(begin, end, sharers, pace);
  forget(begin, end);
  ranges_[begin] = {end, clock_, pace, others_, sharers};
  clock_ += seen / sharers;
  return bytes - warm;
}

} // namespace tessera::cost
