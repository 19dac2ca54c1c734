// The rows that a shard's windows see, for convolution and reduce_window.
#pragma once

#include "passes/localize/Rows.h"

namespace tessera::localize {

// One windowed dimension. Result row o sees the dilated input from o * stride - low on, in `size`
// places `dilation` apart.
struct WindowDim {
  int64_t size, stride = 1, low = 0, high = 0, dilation = 1, baseDilation = 1;
};

// Whether shards with `step` places of the dilated input from one's start to the next's begin on
// the same phase.
bool keepsPhase(const WindowDim &window, int64_t step);

// Shard i's windows span [i * step + offset, i * step + offset + span) of the dilated input. Gives
// the input rows there, those that do not exist replaced by `fill`, and sets the window's padding
// to what is left to do locally.
mlir::Value windowRows(Localizer &l, mlir::Value value, int64_t dim, const DimLayout &held,
                       int64_t size, llvm::ArrayRef<sharding::AxisRef> axes, int64_t step,
                       int64_t offset, int64_t span, WindowDim &window, mlir::Value fill);

} // namespace tessera::localize
