// Axes given to the factors of a rule, and the shardings of operands and results that follow from
// them.
#pragma once

#include "lib/sharding/FactorRule.h"

namespace tessera::sharding {

using Shape = llvm::SmallVector<int64_t, 4>;

// A rule with what it is about: one shape an operand and one a result.
struct RuledOp {
  FactorRule rule;
  std::vector<Shape> operands, results;
};

// The axes of each factor, major to minor.
//   dot_general  b m k, b n k -> b m n  with  b {"x"}, k {"y"}
//   operands [{x}, {}, {y}]  [{x}, {}, {y}]    results [{x}, {}, {}] partial over y
//
// What an op can do on shards alone, given these axes:
//   - no axis is used by two factors of one computation (factors that tensors connect), and none by
//     a factor that needs replication; an optimization_barrier is as many computations as it has
//     operands;
//   - in a dimension of several factors (larger than 1) the axes of each divide it evenly, and a
//     factor has axes only if all that are more major are split down to single elements: 4 x 6 over
//     8 shards is {4, 2};
//   - so do those of a factor that is one of several in any tensor: 8 x 12 -> 96 splits 8 by 2, 4 or
//     8, not by 3;
//   - a factor of size 1 is not split.
//
// A factor that is alone in all its dimensions may be split unevenly.
class FactorAxes {
public:
  explicit FactorAxes(const RuledOp &op);

  const AxisRefs &operator[](int32_t factor) const { return axes[factor]; }
  size_t size() const { return axes.size(); }
  bool operator==(const FactorAxes &other) const { return axes == other.axes; }

  // Gives factors the axes that a tensor's sharding implies, as far as they are free and keep what
  // is said above. Axes that a factor has already are extended, never changed.
  void claimOperand(size_t index, const TensorSharding &sharding);
  void claimResult(size_t index, const TensorSharding &sharding);
  // Takes these axes, one list a factor, in place of what it has. False where that breaks what is said
  // above; it then has none.
  bool assign(llvm::ArrayRef<AxisRefs> wanted);
  void release(int32_t factor) {
    axes[factor].clear();
    dropMinorAxes(); // more minor factors of its dimension lose theirs, too
  }

  TensorSharding operandSharding(size_t index) const;
  // Partial over the axes of the reduction factors that the result lacks.
  TensorSharding resultSharding(size_t index) const;

  // By what the result of a sharded reduction is combined; Sum when none is sharded.
  ReductionKind reduction() const;
  // The number of parts into which the (most split) computation is split.
  int64_t shards() const;

private:
  void claim(const TensorFactors &factors, const TensorSharding &sharding);
  TensorSharding shardingOf(const TensorFactors &factors) const;
  bool isFree(const AxisRef &axis, int32_t factor) const;
  // Takes away what breaks the rules of a minor factor in any tensor.
  void dropMinorAxes();

  const RuledOp *op;
  std::vector<AxisRefs> axes;
  std::vector<bool> mustDivide;
  std::vector<int32_t> computation; // of each factor
};

// Without axes of size 1.
TensorSharding withoutUnitAxes(TensorSharding sharding);

// Whether two shardings place values alike: axes only, whatever is open or has a priority.
bool sameAxes(const TensorSharding &a, const TensorSharding &b);

} // namespace tessera::sharding
