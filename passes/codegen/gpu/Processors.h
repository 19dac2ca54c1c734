// A GPU of the larger kind, as code is divided for it: kernels with fewer blocks than it has processors leave some idle.
#pragma once

#include <cstdint>

namespace tessera::codegen::gpu {

// Blocks that it runs at a time, one on each of its processors.
inline constexpr int64_t kProcessors = 132;

// Of `most` elements that a thread may have side by side, so many that no processor stands idle for it: half as many
// while the blocks that then are there find a processor each. Each of them has less to do, and each thread a half or a
// quarter of the code.
constexpr int64_t elementsThatFill(int64_t points, int64_t most, int64_t threads) {
  auto blocks = [&](int64_t elements) { return (points / elements + threads - 1) / threads; };
  while (most > 1 && blocks(most / 2) <= kProcessors)
    most /= 2;
  return most;
}

} // namespace tessera::codegen::gpu
