#include "passes/memory/ScratchRoom.h"

#include <algorithm>
#include <utility>

namespace tessera::memory {

namespace {
// Bytes of what has begun, or ended, by a time.
class Running {
public:
  void add(int64_t time, int64_t bytes) { events.emplace_back(time, bytes); }
  void sum() {
    std::sort(events.begin(), events.end());
    for (size_t i = 1; i < events.size(); ++i)
      events[i].second += events[i - 1].second;
  }
  int64_t until(int64_t time) const {
    auto behind = std::upper_bound(events.begin(), events.end(), time,
                                   [](int64_t at, const auto &event) { return at < event.first; });
    return behind == events.begin() ? 0 : std::prev(behind)->second;
  }

private:
  std::vector<std::pair<int64_t, int64_t>> events; // times, and bytes of all until then
};
} // namespace

std::vector<int64_t> scratchRoom(llvm::ArrayRef<Request> arrays, llvm::ArrayRef<ScratchUse> uses,
                                 size_t kernels, int64_t space) {
  constexpr int64_t unit = 1024; // rooms that differ by less make no kernels of their own
  Running begun, ended;
  for (const Request &array : arrays)
    for (const Segment &live : array.live) {
      begun.add(live.begin, array.bytes);
      ended.add(live.end, array.bytes);
    }
  begun.sum();
  ended.sum();
  std::vector<int64_t> most(kernels);
  for (const ScratchUse &use : uses) {
    int64_t room = space - (begun.until(use.time + 2) - ended.until(use.time - 1));
    if (use.bytes == 0 || use.bytes <= room)
      continue;
    room = std::max<int64_t>(room / unit * unit, 1);
    most[use.kernel] = most[use.kernel] ? std::min(most[use.kernel], room) : room;
  }
  return most;
}

} // namespace tessera::memory
