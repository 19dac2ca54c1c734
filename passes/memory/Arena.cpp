#include "passes/memory/Arena.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

namespace tessera::memory {

bool overlap(const Segments &a, const Segments &b) {
  if (a.empty() || b.empty() || a.back().end < b.front().begin || b.back().end < a.front().begin)
    return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->end < j->begin)
      ++i;
    else if (j->end < i->begin)
      ++j;
    else
      return true;
  }
  return false;
}

Segments united(const Segments &a, const Segments &b) {
  Segments all(a);
  all.append(b.begin(), b.end());
  llvm::sort(all, [](const Segment &x, const Segment &y) { return x.begin < y.begin; });
  Segments result;
  for (const Segment &s : all) {
    if (!result.empty() && s.begin <= result.back().end + 1)
      result.back().end = std::max(result.back().end, s.end);
    else
      result.push_back(s);
  }
  return result;
}

static int64_t rounded(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

int64_t leastBytes(llvm::ArrayRef<Request> requests, int64_t alignment) {
  std::vector<std::pair<int64_t, int64_t>> changes; // time, bytes more; at one time the fewer first
  for (const Request &request : requests)
    for (const Segment &segment : request.live) {
      int64_t bytes = rounded(request.bytes, alignment);
      changes.emplace_back(segment.begin, bytes);
      changes.emplace_back(segment.end + 1, -bytes);
    }
  llvm::sort(changes);
  int64_t now = 0, most = 0;
  for (auto [time, bytes] : changes)
    most = std::max(most, now += bytes);
  return most;
}

// In the order of falling weights; equal ones in their own order.
static Layout bestFit(llvm::ArrayRef<Request> requests, int64_t alignment,
                      llvm::function_ref<double(const Request &)> weigh) {
  std::vector<double> weights;
  for (const Request &request : requests)
    weights.push_back(weigh(request));
  std::vector<int> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return weights[a] > weights[b]; });

  struct Placed {
    int64_t offset, end;
    int request;
  };
  std::vector<Placed> placed; // by offset
  Layout layout;
  layout.offsets.resize(requests.size());
  for (int n : order) {
    int64_t size = rounded(requests[n].bytes, alignment), free = 0, best = -1, bestGap = INT64_MAX;
    for (const Placed &p : placed) {
      if (!overlap(requests[p.request].live, requests[n].live))
        continue;
      int64_t gap = p.offset - free;
      if (gap >= size && gap < bestGap) {
        best = free;
        bestGap = gap;
      }
      free = std::max(free, p.end);
    }
    int64_t offset = best >= 0 ? best : free;
    layout.offsets[n] = offset;
    layout.bytes = std::max(layout.bytes, offset + size);
    Placed entry{offset, offset + size, n};
    placed.insert(
        llvm::upper_bound(placed, entry,
                          [](const Placed &a, const Placed &b) { return a.offset < b.offset; }),
        entry);
  }
  return layout;
}

static double bytesOf(const Request &request) { return static_cast<double>(request.bytes); }

static double durationOf(const Request &request) {
  double duration = 0;
  for (const Segment &segment : request.live)
    duration += static_cast<double>(segment.end - segment.begin + 1);
  return duration;
}

static double earliness(const Request &request) {
  return request.live.empty() ? 0 : -static_cast<double>(request.live.front().begin);
}

Layout layOut(llvm::ArrayRef<Request> requests, int64_t alignment) {
  Layout best = bestFit(requests, alignment, bytesOf);
  // Each order takes the square of their number.
  constexpr size_t most = 4096;
  if (requests.size() > most)
    return best;
  int64_t least = leastBytes(requests, alignment);
  auto area = [](const Request &request) { return bytesOf(request) * durationOf(request); };
  using Weigh = llvm::function_ref<double(const Request &)>;
  for (Weigh weigh : {Weigh(area), Weigh(earliness), Weigh(durationOf)}) {
    if (best.bytes <= least)
      break;
    Layout layout = bestFit(requests, alignment, weigh);
    if (layout.bytes < best.bytes)
      best = std::move(layout);
  }
  return best;
}

} // namespace tessera::memory
