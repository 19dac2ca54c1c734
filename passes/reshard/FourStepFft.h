// Fourier transforms along a sharded dimension, built of local ones.
#pragma once

#include "passes/reshard/SplitDimension.h"

namespace tessera {

// A transform of one dimension, the last, that is sharded p ways. A complex one has as many points
// as elements, a real one of n elements goes as one of n / 2 points.
struct ShardedFft {
  stablehlo::FftOp op;
  int64_t points, shards;
  sharding::AxisRefs axes; // of the operand's last dimension

  bool isReal() {
    return op.getFftType() == stablehlo::FftType::RFFT ||
           op.getFftType() == stablehlo::FftType::IRFFT;
  }
};

// None where the operand's dimension is not sharded, or p * p doesn't divide the points.
std::optional<ShardedFft> shardedFft(stablehlo::FftOp op, const ValueShardings &shardings);

// The result of the transform, under the operand's axes.
mlir::Value fourStepFft(ShardedFft fft, const ValueShardings &shardings);

} // namespace tessera
