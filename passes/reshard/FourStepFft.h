// Fourier transforms along a sharded dimension, built of local ones.
#pragma once

#include "passes/reshard/SplitDimension.h"

namespace tessera {

// A transform of one dimension, the last, that is sharded p ways. A complex one has as many points
// as elements; a real one of n elements goes as one of n / 2 points, or of n where n is odd and it
// goes forward.
struct ShardedFft {
  stablehlo::FftOp op;
  int64_t points, shards;
  int64_t rows;            // of points / rows columns
  sharding::AxisRefs axes; // of the operand's last dimension

  int64_t columns() const { return points / rows; }
  bool isReal() {
    return op.getFftType() == stablehlo::FftType::RFFT ||
           op.getFftType() == stablehlo::FftType::IRFFT;
  }
  bool isHalved() { return isReal() && op.getFftLength()[0] % 2 == 0; }
};

// None where the operand's dimension is not sharded, the points have no rows, or an odd number of
// reals is made.
std::optional<ShardedFft> shardedFft(stablehlo::FftOp op, const ValueShardings &shardings);

// The result of the transform, under the operand's axes.
mlir::Value fourStepFft(ShardedFft fft, const ValueShardings &shardings);

} // namespace tessera
