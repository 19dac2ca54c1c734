// How a block of attention divides shared memory: plain data, decided without IR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::codegen::gpu {

// What multiplies, as far as memory is concerned (TileMultiplier.h).
struct FlashMultiplier {
  int64_t ownRows = 0, threads = 0;      // of a tile
  int64_t leastDepth = 0, mostDepth = 0; // of slices
  int64_t bytes = 0;                     // of an element
  int64_t pad = 0;                       // elements between lines of a slice
};

struct FlashSizes {
  std::vector<int64_t> terms;   // of each product
  std::vector<int64_t> columns; // of each result
  int64_t factors = 1;          // that go through shared memory
  int64_t nodes = 0;            // that are computed of each element of a product
};

struct FlashPlan {
  int64_t other = 0;       // rows of a tile of the other side
  int64_t depth = 0;       // terms of products at a time
  int64_t resultDepth = 0; // rows of the other side at a time that factors are multiplied with
  bool keepsOwn = false;   // products' own operands stay in shared memory
  int64_t factors = 1;     // that go through shared memory
  int64_t stage = 0;       // elements of one of the two stages
  int64_t factor = 0;      // elements of one factor's tile
  int64_t kept = 0;        // elements of all own operands
  // Where they lie, after the stages.
  int64_t factorAt(int64_t number) const { return 2 * stage + number * factor; }
  int64_t keptAt() const { return factorAt(factors); }
  int64_t elements() const { return keptAt() + kept; }
};

// In at most so many bytes.
FlashPlan planFlash(const FlashSizes &sizes, const FlashMultiplier &by, int64_t mostBytes);

// Columns of results that blocks have at a time: a thread's registers hold so many sums.
struct FlashColumns {
  size_t result;
  int64_t first, columns;
};
std::vector<std::vector<FlashColumns>> groupColumns(const std::vector<int64_t> &sizes,
                                                    int64_t least);

} // namespace tessera::codegen::gpu
