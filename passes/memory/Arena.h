// Offsets for arrays that live at different times in one arena, on plain data.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace tessera::memory {

// A stretch of time, both ends included.
struct Segment {
  int64_t begin, end;
  bool operator==(const Segment &) const = default;
};
using Segments = llvm::SmallVector<Segment, 2>; // ascending, apart

bool overlap(const Segments &a, const Segments &b);
Segments united(const Segments &a, const Segments &b);

struct Request {
  int64_t bytes;
  Segments live;
};

// Memory that is there anyway, and free but while it is taken: an output before it is written.
struct Pool {
  int64_t bytes;
  Segments taken;
};

struct Spot {
  int pool; // -1: the arena
  int64_t offset;
  bool operator==(const Spot &) const = default;
};

struct Layout {
  std::vector<Spot> spots; // one a request
  int64_t bytes = 0;       // of the arena
};

// What is live at one time and has no place in pools, at most: no arena takes less.
int64_t leastBytes(llvm::ArrayRef<Request> requests, llvm::ArrayRef<Pool> pools = {},
                   int64_t alignment = 64);

// Best fit: a request goes into the smallest gap between those placed before it that live at the
// same time, in a pool or the arena, and on top of the arena where there is none. The largest goes
// first (Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural Net Inference"); where
// that leaves holes, the one of most bytes and time, the earliest or the longest is tried too; and
// from the best order on, a percent less each time, with those earlier that find no room.
//   A 64 [0,4]  B 32 [2,6]  C 64 [5,9]                        A at 0, C at 0, B at 64
//   the same, and a pool of 64 bytes that is taken [6,9]      A in the pool, C at 0, B at 64
// Where the arena should take no more than `wanted` and does, that is searched for from each order.
Layout layOut(llvm::ArrayRef<Request> requests, llvm::ArrayRef<Pool> pools = {},
              int64_t alignment = 64, int64_t wanted = 0);

} // namespace tessera::memory
