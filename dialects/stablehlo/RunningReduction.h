// Running reductions (cumulative sums, maxima): reduce_window with windows as long as a dimension.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "lib/sharding/Sharding.h"

namespace tessera::stablehlo {

struct RunningDim {
  int64_t dim;
  bool forward; // windows end at their element, or begin there
};

/// The dimensions along which each element of the result reduces all up to its own place, or all
/// from there on.
llvm::SmallVector<RunningDim> runningDims(ReduceWindowOp op);

/// The one such dimension of an op that has no windows, steps or padding along any other; else
/// none.
std::optional<RunningDim> onlyRunningDim(ReduceWindowOp op);

/// The kinds by which its computation combines each of its values with its accumulator and nothing
/// else, an exclusive or being a sum (of bits); empty when it is any other.
llvm::SmallVector<sharding::ReductionKind> runningKinds(ReduceWindowOp op);

/// Whether a running reduction may be made of reductions of parts: its computation takes arrays as
/// well as elements, and its start values may be taken any number of times.
bool isSplittable(ReduceWindowOp op);

} // namespace tessera::stablehlo
