// How a nest's points are divided over a GPU: plain data, decided without IR.
#pragma once

#include "lib/target/GpuBlocks.h"

#include <cstdint>
#include <vector>

namespace tessera::codegen::gpu {

inline constexpr int64_t kWarp = 32; // threads that go together
using target::kAccessBytes;
// Of a block, without asking the driver for more: what the code declares has no more.
inline constexpr int64_t kMostSharedBytes = 48 << 10;
inline constexpr int64_t kMostBlocks = 0x7fffffff; // of a launch

// An operand of 16-bit elements as copies of boxes into shared memory see it (program.proto, TensorMap).
struct OperandMap {
  int64_t operand = 0, offset = 0;
  bool isBf16 = false;                      // or f16
  std::vector<int64_t> sizes, strides, box; // innermost first; strides in bytes, one fewer
};

// What an architecture has for a kernel.
struct GpuFeatures {
  bool hasWarpgroups = false;                 // wgmma, and copies of boxes
  int64_t mostSharedBytes = kMostSharedBytes; // of a block, by a launch that asks for it
};

// How a kernel is launched.
struct Launch {
  int64_t blocks = 0;
  int64_t threads = target::kBlockThreads; // of each block
  int64_t sharedBytes = 0;                 // beside what the code declares
  std::vector<OperandMap> maps = {};
};

// Elements that follow each other in memory, for each thread: as many as one access moves of the
// widest of them, where the innermost loop of `size` has no rest.
int64_t elementsOfThread(int64_t size, int64_t widestBytes);

// Blocks for `items`, one for each thread.
int64_t blocksFor(int64_t items, const Launch &launch);

// Of rows that are made of pieces side by side, as concatenations and paddings leave them, so many that a block has
// with all of their pieces: sectors that two of these share are then one block's, and so is what both read. `items`: of
// each piece in a row. 0: pieces are blocks of their own, as rows are long, or too few for a GPU.
int64_t rowsWithPieces(int64_t rows, const std::vector<int64_t> &items, int64_t threads);

} // namespace tessera::codegen::gpu
