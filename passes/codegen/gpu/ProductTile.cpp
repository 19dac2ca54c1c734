#include "passes/codegen/gpu/ProductTile.h"

#include "lib/target/GpuBlocks.h"
#include "passes/codegen/gpu/Processors.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

namespace tessera::codegen::gpu {

namespace {

// `cost`: of an element of a tile's result, as its threads read shared memory more often for it.
struct Choice {
  ProductTile tile;
  double cost;
};

constexpr int64_t kLarge = target::kTileEdges[0], kMiddle = target::kTileEdges[1],
                  kSmall = target::kTileEdges[2];
constexpr Choice kOfF32[] = {{{kLarge, kLarge, 16, 2, 2, 4}, 1.0},
                             {{kMiddle, kMiddle, 16, 2, 1, 4}, 1.25},
                             {{kSmall, kSmall, 16, 1, 1, 4}, 1.7}};
constexpr Choice kOfF64[] = {{{kMiddle, kMiddle, 16, 2, 2, 2}, 1.0},
                             {{kSmall, kSmall, 16, 1, 1, 2}, 1.5}};
constexpr Choice kOfCores[] = {{{kLarge, kLarge, 32, 2, 1, 1, 64, 32}, 1.0},
                               {{kMiddle, kMiddle, 32, 1, 1, 1, 32, 32}, 1.4},
                               {{kSmall, kSmall, 32, 1, 1, 1, 16, 16}, 2.2}};
// The same of elements of half the size, twice as deep.
constexpr Choice kOfByteCores[] = {{{kLarge, kLarge, 64, 2, 1, 1, 64, 32}, 1.0},
                                   {{kMiddle, kMiddle, 64, 1, 1, 1, 32, 32}, 1.4},
                                   {{kSmall, kSmall, 64, 1, 1, 1, 16, 16}, 2.2}};
// Two warpgroups, and a warp that brings slices of 128 bytes a line.
constexpr Choice kOfWarpgroups[] = {{{128, 256, 64, 1, 1, 1, 16, 256, 32}, 0.55},
                                    {{128, 128, 64, 1, 1, 1, 16, 128, 32}, 0.6}};

double blocksOf(const ProductTile &tile, int64_t m, int64_t n, int64_t batch) {
  auto tiles = [](int64_t size, int64_t tile) { return double((size + tile - 1) / tile); };
  return tiles(m, tile.rows) * tiles(n, tile.columns) * double(batch);
}

double costOf(const Choice &choice, int64_t m, int64_t n, int64_t batch) {
  const ProductTile &tile = choice.tile;
  // Where there are fewer blocks than processors, the others stand idle.
  return std::max(blocksOf(tile, m, n, batch), double(kProcessors)) *
         double(tile.rows * tile.columns) * choice.cost;
}

const Choice &bestOf(llvm::ArrayRef<Choice> choices, int64_t m, int64_t n, int64_t batch) {
  return *std::min_element(choices.begin(), choices.end(), [&](const Choice &a, const Choice &b) {
    return costOf(a, m, n, batch) < costOf(b, m, n, batch);
  });
}

llvm::ArrayRef<Choice> choicesOf(Multiplier multiplier) {
  switch (multiplier) {
  case Multiplier::F32:
    return kOfF32;
  case Multiplier::F64:
    return kOfF64;
  case Multiplier::Cores:
    return kOfCores;
  case Multiplier::ByteCores:
    return kOfByteCores;
  case Multiplier::Warpgroups:
    return kOfWarpgroups;
  case Multiplier::WarpgroupsInBlocks: // there are no registers for more
    return llvm::ArrayRef(kOfWarpgroups).drop_front();
  }
  llvm_unreachable("all are listed");
}

} // namespace

// Where each processor has a block at most, a small one's 1,024 sums are 256 threads', not 64: all of a processor's
// schedulers have work (58 instructions of each for four terms, where two of them had 77), what comes from memory is
// on its way in a quarter of the trips, and all that a thread writes out is shorter.
static bool isSpread(const ProductTile &tile, int64_t m, int64_t n, int64_t batch) {
  return tile.rows == kSmall && tile.together == 4 && blocksOf(tile, m, n, batch) <= kProcessors;
}

ProductTile productTile(int64_t m, int64_t n, int64_t batch, Multiplier multiplier) {
  ProductTile tile = bestOf(choicesOf(multiplier), m, n, batch).tile;
  if (isSpread(tile, m, n, batch))
    tile.together = 2;
  return tile;
}

bool suitsWarpgroups(int64_t m, int64_t n, int64_t batch) {
  return costOf(bestOf(kOfWarpgroups, m, n, batch), m, n, batch) <
         costOf(bestOf(kOfCores, m, n, batch), m, n, batch);
}

} // namespace tessera::codegen::gpu
