#include "lib/sharding/FourStepRows.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <utility>

namespace tessera::sharding {

std::optional<int64_t> fourStepRows(int64_t points, int64_t shards) {
  std::optional<std::pair<int64_t, int64_t>> best; // points sent, rows
  int64_t tile = llvm::divideCeil(points, shards);
  auto held = [&](int64_t sharded, int64_t whole) {
    return int64_t(llvm::divideCeil(sharded, shards)) * whole;
  };
  // From as many points a device to more, or back: each device's begin that much further on.
  auto evened = [&](int64_t more) { return (shards - 1) * std::min(tile, more - tile); };
  auto consider = [&](int64_t rows, int64_t columns) {
    int64_t byRows = held(rows, columns), byColumns = held(columns, rows);
    std::pair<int64_t, int64_t> found{2 * byRows + byColumns + evened(byRows) + evened(byColumns),
                                      rows};
    best = best ? std::min(*best, found) : found;
  };
  for (int64_t rows = 2; rows * rows <= points; ++rows)
    if (points % rows == 0) {
      consider(rows, points / rows);
      consider(points / rows, rows);
    }
  return best ? std::optional(best->second) : std::nullopt;
}

} // namespace tessera::sharding
