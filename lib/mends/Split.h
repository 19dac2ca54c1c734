// Reshapes that make several dimensions of one, or one of several. Plain data.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tessera::mends {

//   8 x 96 -> 8 x 3 x 32        dim 1, factors 3 x 32
//   8 x 3 x 32 -> 8 x 96        the same, inverse
struct Split {
  size_t dim;
  llvm::SmallVector<int64_t> factors; // major to minor
  bool inverse;
};

// None for other reshapes.
std::optional<Split> splitOf(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

// Dimensions in the order in which a factor is the most major of its split:
//   factor 1 of 8 x 3 x 32, dim 1: 0, 2, 1
llvm::SmallVector<int64_t> orderWithFirst(const Split &split, size_t rank, int64_t factor);

} // namespace tessera::mends
