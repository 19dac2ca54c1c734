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

struct Layout {
  std::vector<int64_t> offsets; // one a request
  int64_t bytes = 0;            // of the arena
};

// What is live at one time, at most: no layout takes less.
int64_t leastBytes(llvm::ArrayRef<Request> requests, int64_t alignment = 64);

// Best fit: a request goes into the smallest gap between those placed before it that live at the
// same time. The largest goes first (Pisarchyk and Lee 2020, "Efficient Memory Management for Deep
// Neural Net Inference"); where that leaves holes, the one of most bytes and time, the earliest or the
// longest is tried too, and the smallest arena taken.
//   A 64 [0,4]  B 32 [2,6]  C 64 [5,9]     A at 0, C at 0, B at 64
Layout layOut(llvm::ArrayRef<Request> requests, int64_t alignment = 64);

} // namespace tessera::memory
