// Which positions of a convolution's window meet elements of its left operand: where the operand is
// dilated (the gradient of a strided convolution), and where it is padded.
//
//   a result at 2p + r, a window of 3, a dilation of 2, padding 2    r = 0: positions 0 and 2
//                                                                    r = 1: position 1
//   an image of 2, a window of 3, padding 1                          first result: positions 1 and 2
//                                                                    second: positions 0 and 1
//
// The others meet zeros, and are left out. So the results of one remainder, or at one place of a
// small image, are a product of their own, with fewer terms.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cstdint>
#include <utility>

namespace tessera::codegen {

// Of `size` positions those that count: first, first + step, .. below `end`.
struct Taps {
  int64_t size, first = 0, step = 1, end = INT64_MAX;
  int64_t last() const { return std::min(size, end); }
  int64_t count() const { return first < last() ? (last() - first + step - 1) / step : 0; }
  bool isAll() const { return count() == size; }
};

// The window begins `remainder` past an element of an operand that is dilated by `base`; its
// positions are `dilation` apart. The two have no common divisor.
Taps tapsOf(int64_t size, int64_t dilation, int64_t base, int64_t remainder);

// Those of them in [low, high).
Taps within(Taps taps, int64_t low, int64_t high);

// Of a window whose positions are `dilation` apart, and which begins in [low, high] of an operand of
// `size` elements, dilated by `base`: [first, second) are the positions that meet it, or the zeros
// between its elements, from some of these places.
std::pair<int64_t, int64_t> meetingTaps(int64_t low, int64_t high, int64_t size, int64_t dilation,
                                        int64_t base);

// Where the meeting positions of a window of `window` change, of results at `count` places that are
// `stride` apart, the first of which begins at `low`; and how many of all of them there are. No cuts:
// they don't change, or too often.
struct BorderCuts {
  llvm::SmallVector<int64_t, 4> cuts;
  double share = 1;
};
BorderCuts borderCuts(int64_t low, int64_t stride, int64_t count, int64_t window, int64_t size,
                      int64_t dilation, int64_t base);

// A sum over `loops`, outer first, in blocks of `block` of all their positions: the terms before each
// block's end, counting those that are not left out. A block without terms is none.
llvm::SmallVector<int64_t, 0> blockEnds(llvm::ArrayRef<Taps> loops, int64_t block);

} // namespace tessera::codegen
