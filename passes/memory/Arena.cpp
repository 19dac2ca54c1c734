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

int64_t leastBytes(llvm::ArrayRef<Request> requests, llvm::ArrayRef<Pool> pools,
                   int64_t alignment) {
  std::vector<std::pair<int64_t, int64_t>> changes; // time, bytes more; at one time the fewer first
  auto count = [&](int64_t size, const Segments &live) {
    int64_t bytes = rounded(size, alignment);
    for (const Segment &segment : live) {
      changes.emplace_back(segment.begin, bytes);
      changes.emplace_back(segment.end + 1, -bytes);
    }
  };
  for (const Request &request : requests)
    count(request.bytes, request.live);
  int64_t given = 0;
  for (const Pool &pool : pools) {
    count(pool.bytes, pool.taken);
    given += rounded(pool.bytes, alignment);
  }
  llvm::sort(changes);
  int64_t now = 0, most = 0;
  for (auto [time, bytes] : changes)
    most = std::max(most, now += bytes);
  return std::max<int64_t>(0, most - given);
}

namespace {

// What has been placed in a pool or the arena.
class Region {
public:
  explicit Region(llvm::ArrayRef<Request> requests) : requests(requests) {}

  struct Gap {
    int64_t offset, size;
  };
  // The smallest gap that has room for a request, below `top`; size -1: there is none, and it lies
  // free from `offset` on.
  Gap gapFor(const Request &request, int64_t room, int64_t top) const {
    int64_t free = 0;
    Gap best{0, -1};
    Segment live = hullOf(request);
    auto consider = [&](int64_t end) {
      int64_t size = end - free;
      if (size >= room && (best.size < 0 || size < best.size))
        best = {free, size};
    };
    for (const Placed &p : placed) {
      if (p.live.end < live.begin || live.end < p.live.begin ||
          !overlap(requests[p.request].live, request.live))
        continue;
      consider(p.offset);
      free = std::max(free, p.end);
    }
    consider(top);
    return best.size < 0 ? Gap{free, -1} : best;
  }

  void place(int request, int64_t offset, int64_t size) {
    Placed entry{offset, offset + size, hullOf(requests[request]), request};
    placed.insert(
        llvm::upper_bound(placed, entry,
                          [](const Placed &a, const Placed &b) { return a.offset < b.offset; }),
        entry);
  }

private:
  struct Placed {
    int64_t offset, end;
    Segment live; // from the first of its segments to the last: most are told apart by that
    int request;
  };

  static Segment hullOf(const Request &request) {
    if (request.live.empty())
      return {1, 0};
    return {request.live.front().begin, request.live.back().end};
  }

  llvm::ArrayRef<Request> requests;
  std::vector<Placed> placed; // by offset
};

} // namespace

namespace {

// Places requests one after another.
class BestFit {
public:
  BestFit(llvm::ArrayRef<Request> requests, llvm::ArrayRef<Pool> pools, int64_t alignment)
      : requests(requests), pools(pools), alignment(alignment) {}

  // Where the arena may have no more than `most` bytes, -1 or the place in the order of the first
  // request that finds no room.
  int run(llvm::ArrayRef<int> order, Layout &layout, int64_t most = -1) const {
    Region arena(requests);
    std::vector<Region> regions(pools.size(), arena);
    layout.bytes = 0;
    layout.spots.resize(requests.size());
    for (auto [place, n] : llvm::enumerate(order)) {
      const Request &request = requests[n];
      int64_t size = rounded(request.bytes, alignment);
      Region::Gap best = arena.gapFor(request, size, most < 0 ? layout.bytes : most);
      int pool = -1;
      for (auto [i, given] : llvm::enumerate(pools)) {
        if (given.bytes < request.bytes || overlap(given.taken, request.live))
          continue;
        Region::Gap gap = regions[i].gapFor(request, request.bytes, given.bytes);
        if (gap.size >= 0 && (best.size < 0 || gap.size < best.size)) {
          best = gap;
          pool = static_cast<int>(i);
        }
      }
      if (best.size < 0 && most >= 0)
        return static_cast<int>(place);
      layout.spots[n] = {pool, best.offset};
      (pool < 0 ? arena : regions[pool]).place(n, best.offset, size);
      if (pool < 0)
        layout.bytes = std::max(layout.bytes, best.offset + size);
    }
    return -1;
  }

private:
  llvm::ArrayRef<Request> requests;
  llvm::ArrayRef<Pool> pools;
  int64_t alignment;
};

} // namespace

// In the order of falling weights; equal ones in their own order.
static std::vector<int> ordered(llvm::ArrayRef<Request> requests,
                                llvm::function_ref<double(const Request &)> weigh) {
  std::vector<double> weights;
  for (const Request &request : requests)
    weights.push_back(weigh(request));
  std::vector<int> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return weights[a] > weights[b]; });
  return order;
}

// A percent less is tried again and again: what finds no room goes before three quarters of those
// that were placed before it.
static void tighten(const BestFit &fit, std::vector<int> order, Layout &best, int64_t least,
                    int64_t alignment) {
  auto count = static_cast<int64_t>(order.size());
  int64_t tries = std::min<int64_t>(100, 30'000'000 / (count * count + 1));
  Layout layout;
  for (; tries > 0 && best.bytes > least + least / 200; --tries) {
    int64_t target = std::max(least, (best.bytes - best.bytes / 100 - 1) / alignment * alignment);
    int place = fit.run(order, layout, target);
    if (place < 0)
      best = layout;
    else if (place == 0)
      return;
    else
      std::rotate(order.begin() + place / 4, order.begin() + place, order.begin() + place + 1);
  }
}

// Straight to `wanted`, from each order in turn: what finds no room goes before so large a part of those
// that were placed before it.
static void aimAt(const BestFit &fit, llvm::ArrayRef<std::vector<int>> orders, Layout &best,
                  int64_t wanted) {
  auto count = static_cast<int64_t>(orders.front().size());
  int64_t tries = std::min<int64_t>(200, 30'000'000 / (count * count + 1));
  Layout layout;
  for (int part : {2, 4, 8})
    for (std::vector<int> order : orders)
      for (int64_t i = 0; i < tries; ++i) {
        int place = fit.run(order, layout, wanted);
        if (place < 0) {
          best = layout;
          return;
        }
        if (place == 0)
          return;
        std::rotate(order.begin() + place - std::max(place / part, 1), order.begin() + place,
                    order.begin() + place + 1);
      }
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

Layout layOut(llvm::ArrayRef<Request> requests, llvm::ArrayRef<Pool> pools, int64_t alignment,
              int64_t wanted) {
  BestFit fit(requests, pools, alignment);
  std::vector<int> bestOrder = ordered(requests, bytesOf);
  std::vector<std::vector<int>> orders{bestOrder};
  Layout best, layout;
  fit.run(bestOrder, best);
  // Each order takes the square of their number.
  constexpr size_t most = 4096;
  if (requests.size() > most)
    return best;
  int64_t least = leastBytes(requests, pools, alignment);
  auto area = [](const Request &request) { return bytesOf(request) * durationOf(request); };
  using Weigh = llvm::function_ref<double(const Request &)>;
  for (Weigh weigh : {Weigh(area), Weigh(earliness), Weigh(durationOf)}) {
    if (best.bytes <= least)
      return best;
    std::vector<int> order = ordered(requests, weigh);
    fit.run(order, layout);
    orders.push_back(order);
    if (layout.bytes < best.bytes) {
      std::swap(best, layout);
      bestOrder = std::move(order);
    }
  }
  tighten(fit, std::move(bestOrder), best, least, alignment);
  wanted = wanted / alignment * alignment;
  if (best.bytes > wanted && wanted >= least && wanted > 0)
    aimAt(fit, orders, best, wanted);
  return best;
}

} // namespace tessera::memory
