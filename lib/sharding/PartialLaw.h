// The partial-value law: which ops commute with the reduction of a partial operand. Only this table
// says so.
//
//   sum_i(a_i) * b == sum_i(a_i * b)              multiply is linear in one operand
//   sum_i(a_i) + sum_i(b_i) == sum_i(a_i + b_i)   add in both together, not in one: b would be
//                                                 added once a device
//   max_i(a_i) + b == max_i(a_i + b)              add commutes with max in one, but not of
//                                                 integers: they wrap, the least one minus 1 is the
//                                                 largest
#pragma once

#include "lib/sharding/Sharding.h"
#include "llvm/ADT/StringRef.h"

namespace tessera::sharding {

enum class OperandState {
  Whole,   // the same on all devices of the group
  Partial, // to be combined over the group
  Neutral, // whole, and combining it with itself changes nothing: zero for sums, anything for max
};

struct PartialQuery {
  llvm::StringRef op; // with its dialect: "stablehlo.add"
  ReductionKind kind;
  llvm::ArrayRef<OperandState> operands;
  // What the op's own region computes (reduce, scatter, windows), where it is of a kind.
  std::optional<ReductionKind> combiner = std::nullopt;
  // An operand or result has integer elements: division and conversion round, sums wrap.
  bool integer = false;
};

// Whether the op's result is partial in the same way, so that reducing it gives what reducing the
// operands first gives.
bool commutesWithReduction(const PartialQuery &query);

} // namespace tessera::sharding
