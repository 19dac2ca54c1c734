// What an operation is among those that become kernels, and how it reads what others made.
#pragma once

#include <cstdint>

namespace tessera::fusion {

enum class NodeKind : uint8_t {
  Outside,   // no compute op: collectives, loops, branches, returns, data of the constant section
  Constant,  // costs nothing anywhere: splats, iota
  Pointwise, // result[i] from operands[i]
  Convert,   // pointwise, and only changes the type
  Broadcast,
  Reshape, // a view when its operand is in memory
  Transpose,
  Slice,    // slice, dynamic_slice
  Movement, // pad, concatenate, reverse, gather
  Reduce,
  Contraction, // dot_general, convolution
  Update,      // dynamic_update_slice
  Alone,       // a kernel of its own: scatter, sort, ..
};

// How a node reads an operand.
enum class Use : uint8_t {
  Once,    // each element at most about once
  Piece,   // as one of several alternatives: concatenate
  Reread,  // each element often: broadcast; index scalars
  Reduced, // the input of a reduction
  Packed,  // an operand of a contraction
  Whole,   // as an array, whatever its place; a constant need have none
  Memory,  // as an array in memory
};

} // namespace tessera::fusion
