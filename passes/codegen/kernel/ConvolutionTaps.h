// Which positions of a convolution's window meet elements of its left operand, where the operand is
// dilated: the gradient of a strided convolution.
//
//   a result at 2p + r, a window of 3, a dilation of 2, padding 2    r = 0: positions 0 and 2
//                                                                    r = 1: position 1
//
// The others meet zeros, and are left out. So the results of one remainder are a product of their
// own, with fewer terms.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tessera::codegen {

// Of `size` positions those that count: first, first + step, ..
struct Taps {
  int64_t size, first = 0, step = 1;
  int64_t count() const { return first < size ? (size - first + step - 1) / step : 0; }
};

// The window begins `remainder` past an element of an operand that is dilated by `base`; its
// positions are `dilation` apart. The two have no common divisor.
Taps tapsOf(int64_t size, int64_t dilation, int64_t base, int64_t remainder);

// A sum over `loops`, outer first, in blocks of `block` of all their positions: the terms before each
// block's end, counting those that are not left out. A block without terms is none.
llvm::SmallVector<int64_t, 0> blockEnds(llvm::ArrayRef<Taps> loops, int64_t block);

} // namespace tessera::codegen
