// Sums of all elements of a large array in two stages, for processors that have many blocks at work: one block
// computes a sum of numbers that its threads add up together, and a GPU has room for a hundred of them.
//
//   sum of 4096 x 1024, lane by lane           sums of 4096 rows, 16 lanes of each, by all blocks;
//   of units of 16 (docs/numbers.md)       ->  their sum lane by lane, and the lanes' sum, by one block
//
//   32 x 4096 x 1024                           of 32 x 4096 rows; of 32 times 4096 of these; their sum
//
// A lane of a row is one of the numbers that the order of addition makes on its way, so the bits are those of one stage.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tessera::fusion {

struct WholeSumLimits {
  int64_t bytes = 1 << 20; // of the array: a block reads less of it in the time of another launch
  int64_t parts = 128;     // of the first stage at least, of 16 lanes each
  int64_t later = 16;      // of one after it
  int64_t terms = 16;      // of each lane of a part, at least
};

// Lanes that are added up apart.
inline constexpr int64_t kSumLanes = 16;

// How many of the outer dimensions each stage but the last has parts of, of an array whose elements of so many bytes are
// all added up. None where the sum is better off as it is, or where rows do not end with four units.
llvm::SmallVector<size_t, 2> wholeSumStages(llvm::ArrayRef<int64_t> shape, int64_t bytes,
                                            const WholeSumLimits &limits = {});

} // namespace tessera::fusion
