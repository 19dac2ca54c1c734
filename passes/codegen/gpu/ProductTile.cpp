#include "passes/codegen/gpu/ProductTile.h"

#include <algorithm>

namespace tessera::codegen::gpu {

namespace {

// `cost`: of an element of a tile's result, as its threads read shared memory more often for it.
struct Choice {
  ProductTile tile;
  double cost;
};

constexpr Choice kOfF32[] = {
    {{128, 128, 16, 2, 2, 4}, 1.0}, {{64, 64, 16, 2, 1, 4}, 1.25}, {{32, 32, 16, 1, 1, 4}, 1.7}};
constexpr Choice kOfF64[] = {{{64, 64, 16, 2, 2, 2}, 1.0}, {{32, 32, 16, 1, 1, 2}, 1.5}};
constexpr Choice kOfCores[] = {{{128, 128, 32, 2, 1, 1, 64, 32}, 1.0},
                               {{64, 64, 32, 1, 1, 1, 32, 32}, 1.4},
                               {{32, 32, 32, 1, 1, 1, 16, 16}, 2.2}};

// Blocks that a GPU of the larger kind runs at a time, one on each of its processors.
constexpr double kProcessors = 132;

double costOf(const Choice &choice, int64_t m, int64_t n, int64_t batch) {
  auto tiles = [](int64_t size, int64_t tile) { return double((size + tile - 1) / tile); };
  const ProductTile &tile = choice.tile;
  double blocks = tiles(m, tile.rows) * tiles(n, tile.columns) * double(batch);
  // Where there are fewer blocks than processors, the others stand idle.
  return std::max(blocks, kProcessors) * double(tile.rows * tile.columns) * choice.cost;
}

} // namespace

ProductTile productTile(int64_t m, int64_t n, int64_t batch, Multiplier multiplier) {
  auto best = [&](const auto &choices) {
    return std::min_element(std::begin(choices), std::end(choices),
                            [&](const Choice &a, const Choice &b) {
                              return costOf(a, m, n, batch) < costOf(b, m, n, batch);
                            })
        ->tile;
  };
  return multiplier == Multiplier::F32   ? best(kOfF32)
         : multiplier == Multiplier::F64 ? best(kOfF64)
                                         : best(kOfCores);
}

} // namespace tessera::codegen::gpu
