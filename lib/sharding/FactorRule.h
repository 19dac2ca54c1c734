// The sharding rule of an op: an einsum over factors, as plain data.
#pragma once

#include "lib/sharding/Sharding.h"

namespace tessera::sharding {

enum class FactorKind {
  PassThrough, // a device computes its part of the result from its part of the operands
  Reduction,   // contracted: sharding it leaves a partial result, to be combined by `reduction`
  Permutation, // values cross shard boundaries in a known pattern (slice, pad, window, reverse, sort, scan)
  NeedReplication, // must be whole on every device
};

struct Factor {
  int64_t size;
  FactorKind kind = FactorKind::PassThrough;
  ReductionKind reduction = ReductionKind::Sum; // of Reduction factors
  // Of a Permutation factor: only one row for all rows of a shard crosses boundaries (running
  // reductions).
  bool scanned = false;
};

// The factors of one dimension, major to minor; none for a dimension of size 1 that no other shares.
using DimFactors = llvm::SmallVector<int32_t, 2>;
using TensorFactors = llvm::SmallVector<DimFactors, 4>; // one a dimension

// dot_general b m k, b n k -> b m n:
//   factors   b 8, m 32, n 64, k 16 (Reduction)
//   operands  [[0],[1],[3]]  [[0],[2],[3]]     results  [[0],[1],[2]]
// reshape 24 -> 4 x 6:  factors 4, 6;  operands [[0,1]]  results [[0],[1]]
struct FactorRule {
  std::vector<Factor> factors;
  std::vector<TensorFactors> operands; // one an operand, scalars and non-tensors with no dimensions
  std::vector<TensorFactors> results;
};

} // namespace tessera::sharding
