// How many bytes a cache holds, from what a loop takes that goes round through more and more of them.
//
//   bytes    2  4  8  12  16  24  64        a cache of 11: of 16 bytes two fifths are still there when
//   seconds  1  1  1  1.3 1.6 1.9 2         the loop comes to them again
//
// What is at hand of a cache that others use, too, is less than its size and falls off slowly: no
// single size tells. Plain data.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tessera::cost {

// One pass over so many bytes takes `seconds` for each of them, or for any part of them, the same for all.
struct CachePass {
  double bytes = 0, seconds = 0;
};

// The capacity by which heldAfter (CacheWalk.h) explains them best; 0: nothing is to be seen, all take
// about as long. In order of bytes; none lie in a smaller cache before it.
double cacheOf(llvm::ArrayRef<CachePass> passes);

} // namespace tessera::cost
