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

Layout layOut(llvm::ArrayRef<Request> requests, int64_t alignment) {
  auto rounded = [&](int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  std::vector<int> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return requests[a].bytes > requests[b].bytes; });

  struct Placed {
    int64_t offset, end;
    int request;
  };
  std::vector<Placed> placed; // by offset
  Layout layout;
  layout.offsets.resize(requests.size());
  for (int n : order) {
    int64_t size = rounded(requests[n].bytes), free = 0, best = -1, bestGap = INT64_MAX;
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

} // namespace tessera::memory
