// How many bytes a cache holds, and how many others bring into it, from what a loop takes that goes round
// through more and more of them.
//
//   bytes    2  4  8  12  16  24  64        a cache of 11: of 16 bytes two fifths are still there when
//   seconds  1  1  1  1.3 1.6 1.9 2         the loop comes to them again
//   seconds  1  1.2 1.5 1.7 1.8 1.9 2       one of 16 that others use, too: the longer a round takes, the
//                                           more of it has been replaced
// Plain data.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tessera::cost {

// A loop that goes round through so many bytes, and takes `seconds` for a part of them.
struct CachePass {
  double bytes = 0, seconds = 0, part = 0;

  double round() const { return part > 0 ? seconds * bytes / part : 0; }
};

struct SharedCache {
  double bytes = 0, othersPerSecond = 0;
};

// The cache by which heldAfter (CacheWalk.h) explains them best, of at most so many bytes; none: nothing
// is to be seen, all take about as long. In order of bytes; none lie in a smaller cache before it.
SharedCache cacheOf(llvm::ArrayRef<CachePass> passes, double most);

} // namespace tessera::cost
