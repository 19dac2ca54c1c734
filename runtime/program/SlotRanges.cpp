#include "runtime/program/SlotRanges.h"

#include <algorithm>
#include <tuple>

namespace tessera::runtime {

using Space = program::Buffer;

void SlotRanges::add(const Slot &at, int64_t bytes, bool written) {
  bool isNumbered =
      at.space == Space::INPUT || at.space == Space::OUTPUT || at.space == Space::ARGUMENT;
  if (bytes)
    ranges_.push_back({at.space, isNumbered ? at.index : 0, at.offset, at.offset + bytes, written});
}

const char *SlotRanges::overlap() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range &a, const Range &b) {
    return std::tie(a.space, a.index, a.begin) < std::tie(b.space, b.index, b.begin);
  });
  uint64_t readEnd = 0, writtenEnd = 0; // of what begins before, in one buffer
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const Range &range = ranges_[i];
    if (i &&
        std::tie(ranges_[i - 1].space, ranges_[i - 1].index) != std::tie(range.space, range.index))
      readEnd = writtenEnd = 0;
    if (range.written && range.begin < writtenEnd)
      return "two results to the same place";
    if (range.begin < (range.written ? readEnd : writtenEnd))
      return "a result over an operand";
    uint64_t &end = range.written ? writtenEnd : readEnd;
    end = std::max(end, range.end);
  }
  return nullptr;
}

} // namespace tessera::runtime
