#include "runtime/comm/local/ScatteredRows.h"
#include <algorithm>
#include <memory>

namespace tessera::runtime {

bool hasScatteredRows(const Transfer &transfer, uint32_t ranks) {
  constexpr int64_t kLongRow = 4 << 10, kMostAtOnce = 1 << 20; // bytes
  const Block &block = transfer.block;
  int64_t all = ranks * block.row;
  return block.extent.size() == 1 && block.row < kLongRow && all <= kMostAtOnce &&
         transfer.fromStep == block.row && block.from[0] == all && block.to[0] == block.row;
}

void reduceRows(const Transfer &transfer, ReduceFunction reduce,
                std::span<const char *const> operands, std::span<char *const> results,
                int64_t begin, int64_t end, int64_t element) {
  constexpr int64_t kAtOnce = 16 << 10; // stays in a core's first cache
  auto ranks = static_cast<int64_t>(results.size());
  int64_t row = transfer.block.row, all = ranks * row, most = std::max<int64_t>(kAtOnce / all, 1);
  auto reduced = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(most * all));
  std::vector<const char *> sources(operands.size());
  for (int64_t next; begin < end; begin = next) {
    next = std::min(begin + most, end);
    for (size_t i = 0; i < sources.size(); ++i)
      sources[i] = operands[i] + begin * all;
    char *target = reduced.get();
    reduce(sources.data(), static_cast<uint32_t>(sources.size()), &target, 1,
           (next - begin) * all / element);
    Block rows{row, {next - begin}, {all}, {row}};
    for (int64_t rank = 0; rank < ranks; ++rank)
      copyBlock(rows, target + rank * row, results[rank] + begin * row, 0, rows.bytes());
  }
}

} // namespace tessera::runtime
