// The loops of a running reduction (cumulative sums, maxima): an array of outer x size x inner
// elements, along whose middle dimension each element of the result reduces all up to its own.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

#include <optional>

namespace tessera::codegen {

struct RunningLoops {
  int64_t outer = 1, size = 1, inner = 1;
  bool forward = true;
  // Cells of the grid: chunks of `inner`, times chunks of `outer`.
  int64_t innerChunk = 1, outerChunk = 1;

  // Elements are reduced in blocks of so many, then the totals of so many blocks, and so on.
  static constexpr int64_t block = 16;
  // 2 for more than 16 elements, 3 for more than 256, ..
  int levels() const;
  int64_t cells() const;
};

// Of what is reduced by blocks; none for other windows.
std::optional<RunningLoops> runningLoopsOf(stablehlo::ReduceWindowOp op);

} // namespace tessera::codegen
