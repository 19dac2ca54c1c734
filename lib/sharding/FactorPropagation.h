// Propagation of shardings through one op, along the factors of its rule.
#pragma once

#include "lib/sharding/FactorRule.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::sharding {

// Where shardings may flow in an op. Forward: from operands to results.
enum class Flow : uint8_t { None = 0, Forward = 1, Backward = 2, Both = 3 };

// What propagation must not do to a tensor besides what its sharding says.
struct TensorLimits {
  AxisRefs reserved;                 // axes that no dimension may take
  llvm::SmallVector<int32_t> frozen; // dimensions that take none
};

// Seconds of an op whose tensors (operands, then results) are sharded so: to bring its operands
// where it is computed, to compute, and to bring its results where they lie.
using OpSeconds = llvm::function_ref<double(llvm::ArrayRef<TensorSharding>)>;

struct OpPropagation {
  const FactorRule &rule;
  llvm::ArrayRef<int64_t> elements; // of each tensor, operands first
  llvm::ArrayRef<int64_t> blocked;  // factors along which nothing flows
  Flow flow = Flow::Both;
  llvm::ArrayRef<const TensorLimits *> limits; // of each tensor, or none at all
  bool elementwise = false;    // operands follow the result, and finer shardings decide
  OpSeconds seconds = nullptr; // decides conflicts where it is given
};

// Extends the shardings of one op's tensors (operands, then results) by what the others say, and
// returns the indices of those that changed. Nothing that is there is taken back, and closed
// dimensions stay as they are.
//
//   C = dot(A, B), factors i, j, k                      i           j       k
//     A [{"a","b"}, {?}]                          A     a b                 c
//     B [{"c"}, {"d", ?}]                         B                 d       c
//     C [{?}, {?}]                                C     (a b)      (d)
//
// The axes that flow along a factor are the longest on which its tensors agree: "a","b" and "a",?
// give "a","b"; "a","b" and "a","c" give "a". Where two factors want the same axis, the choice
// after which the op takes less time stands; among equals, the factor that has it from the larger
// tensor gets it. Operands of an elementwise op follow its result: what the result can't take
// (closed, replicated, or used by another dimension) isn't spread among them. (After the
// description of propagation in Shardy's documentation, 2024, and the behaviour of its "aggressive"
// strategy.)
llvm::SmallVector<int32_t> propagateThroughOp(const OpPropagation &op,
                                              llvm::ArrayRef<TensorSharding *> tensors);

// The axes of each factor in one tensor, major to minor; none where it lacks the factor.
//   ([ij]) with i=2, j=4, dimension on {"x" of 4}:  i {"x":(1)2}   j {"x":(2)2}
llvm::SmallVector<std::optional<AxisRefs>>
axesByFactor(const TensorSharding &tensor, const TensorFactors &factors, const FactorRule &rule);

// The first axes of `axes` that are disjoint from `taken`, the last one cut where only its major
// part is.
//   {"x", "y"} without {"y"}: {"x"};   {"x" of 4} without {"x":(2)2}: {"x":(1)2}
AxisRefs prefixWithout(llvm::ArrayRef<AxisRef> axes, llvm::ArrayRef<AxisRef> taken);

// Whether `shorter` is how `longer` begins (the same when equal).
bool isPrefix(llvm::ArrayRef<AxisRef> shorter, llvm::ArrayRef<AxisRef> longer);

} // namespace tessera::sharding
