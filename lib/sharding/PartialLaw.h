// The partial-value law: which ops commute with the reduction of a partial operand. Only this table
// says so.
//
//   sum_i(a_i) * b == sum_i(a_i * b)              multiply is linear in one operand
//   sum_i(a_i) + sum_i(b_i) == sum_i(a_i + b_i)   add in both together, not in one: b would be
//                                                 added once a device
//   max_i(a_i) + b == max_i(a_i + b)              add commutes with max in one, but not of
//                                                 integers: they wrap, the least one minus 1 is the
//                                                 largest
//   sum_i(a_i) . b == sum_i(a_i . b)              a product is linear in each operand, but not one of
//                                                 i8 whose result is i32: sums of a wrap at 8 bits
#pragma once

#include "lib/sharding/Sharding.h"

namespace tessera::sharding {

// The entry of the table that an op is: what it does to values that are still to be combined. Ops
// say theirs through PartialValueOpInterface (dialects/interfaces).
enum class PartialLaw : uint8_t {
  None, // commutes with no reduction
  Add,
  Subtract,
  Multiply,
  Divide,
  Maximum,
  Minimum,
  And,
  Or,
  Convert,     // to another element type
  Linear,      // in its only operand or the first: negate, real, a Fourier transform
  Pair,        // linear in two operands together: a complex number of its parts
  Select,      // of the second and third operand, by the first
  Move,        // the first operand's elements at other places: transpose, slice, gather
  Insert,      // elements of the first two operands: pad, dynamic_update_slice
  Concatenate, // elements of all operands
  Contract,    // linear in each of two operands: dot_general, convolution
  Reduce,      // of all operands, by the region's kind: inputs and initial values
  Scatter,     // of the first operand and the third, by the region's kind
};

enum class OperandState {
  Whole,   // the same on all devices of the group
  Partial, // to be combined over the group
  Neutral, // whole, and combining it with itself changes nothing: zero for sums, anything for max
};

struct PartialQuery {
  PartialLaw law;
  ReductionKind kind;
  llvm::ArrayRef<OperandState> operands;
  // What the op's own region computes (reduce, scatter, windows), where it is of a kind.
  std::optional<ReductionKind> combiner = std::nullopt;
  // An operand or result has integer elements: division and conversion round, sums wrap.
  bool integer = false;
  // A partial operand's integers become integers of another width: sums wrap there at another place.
  bool rewraps = false;
};

// Whether the op's result is partial in the same way, so that reducing it gives what reducing the
// operands first gives.
bool commutesWithReduction(const PartialQuery &query);

} // namespace tessera::sharding
