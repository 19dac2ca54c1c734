#include "passes/codegen/gpu/Division.h"

#include "passes/codegen/gpu/Processors.h"

#include <algorithm>
#include <numeric>

namespace tessera::codegen::gpu {

int64_t elementsOfThread(int64_t size, int64_t widestBytes) {
  int64_t elements = kAccessBytes / widestBytes;
  while (elements > 1 && size % elements)
    elements /= 2;
  return elements > 1 ? elements : 1;
}

int64_t blocksFor(int64_t items, const Launch &launch) {
  return (items + launch.threads - 1) / launch.threads;
}

int64_t rowsWithPieces(int64_t rows, const std::vector<int64_t> &items, int64_t threads) {
  constexpr int64_t kMostTrips = 8, kWhole = 8; // rows that begin and end a sector
  int64_t most = *std::max_element(items.begin(), items.end());
  int64_t all = std::accumulate(items.begin(), items.end(), int64_t(0));
  if (rows < 2 || all > kMostTrips * threads)
    return 0;
  int64_t together = std::max<int64_t>(threads / most, 1);
  if (together >= kWhole)
    return together / kWhole * kWhole;
  bool isIdle = rows / together < kProcessors && all > threads;
  return isIdle ? 0 : together;
}

} // namespace tessera::codegen::gpu
