// Floats of a byte as tables: what each of them is, and which one a float32 is rounded to. They come
// from the host's conversions, so that both have the same bits.
#pragma once

#include "include/tessera/program.pb.h"
#include <array>
#include <cstdint>

namespace tessera::runtime::device::cuda {

struct SmallFloatTables {
  static constexpr int kPieces = 512; // of magnitudes, for each sign
  std::array<uint32_t, 256> decoded;  // bits of float32
  // Magnitudes (bits of float32) from firsts[i] on, below firsts[i + 1], become codes[i]: first those
  // of positive numbers, then of negative ones. What is not used has the largest number.
  std::array<uint32_t, 2 * kPieces> firsts;
  std::array<uint32_t, 2 * kPieces> codes;
};

SmallFloatTables smallFloatTables(program::ElementType type);

} // namespace tessera::runtime::device::cuda
