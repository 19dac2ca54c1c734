#include "runtime/comm/local/ShortRows.h"
#include <algorithm>
#include <cstring>
#include <memory>

namespace tessera::runtime {

static constexpr int64_t kVector = 64; // bytes

bool hasShortRows(const Block &block) {
  return !block.extent.empty() && block.row < kVector && isCompact(block, block.to);
}

void reduceTogether(const Block &block, ReduceFunction reduce, std::span<const char *const> sources,
                    char *target, int64_t begin, int64_t end, int64_t element) {
  // What all sources have of a part stays in a core's cache.
  constexpr int64_t kAtOnce = 64 << 10, kLeast = 4 * kVector;
  auto count = static_cast<int64_t>(sources.size());
  int64_t most = std::max(kAtOnce / count / kLeast * kLeast, kLeast);
  int64_t step = std::min(most, end - begin) + kVector; // not all in the same sets of that cache
  auto together = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(count * step));
  std::vector<const char *> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(together.get() + i * step);
  for (int64_t next; begin < end; begin = next) {
    next = std::min(begin + most, end);
    for (int64_t i = 0; i < count; ++i)
      copyBlock(block, sources[i], together.get() + i * step, begin, next, begin);
    char *out = target + begin;
    reduce(parts.data(), static_cast<uint32_t>(count), &out, 1, (next - begin) / element);
  }
}

} // namespace tessera::runtime
