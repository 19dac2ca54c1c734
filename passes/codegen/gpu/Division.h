// How a nest's points are divided over a GPU: plain data, decided without IR.
#pragma once

#include <cstdint>

namespace tessera::codegen::gpu {

// How a kernel is launched.
struct Launch {
  int64_t blocks = 0;
  int64_t threads = 256; // of each block
};

inline constexpr int64_t kWarp = 32;        // threads that go together
inline constexpr int64_t kAccessBytes = 16; // the widest access of a thread
inline constexpr int64_t kMostSharedBytes = 48
                                            << 10; // of a block, without asking the driver for more
inline constexpr int64_t kMostBlocks = 0x7fffffff; // of a launch

// Elements that follow each other in memory, for each thread: as many as one access moves of the
// widest of them, where the innermost loop of `size` has no rest.
int64_t elementsOfThread(int64_t size, int64_t widestBytes);

// Blocks for `items`, one for each thread.
int64_t blocksFor(int64_t items, const Launch &launch);

} // namespace tessera::codegen::gpu
