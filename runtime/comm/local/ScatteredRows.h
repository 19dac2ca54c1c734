// Reduce-scatters along another dimension than the first: rows of all ranks lie side by side in each
// operand. These are reduced as they lie, many rows at once, and then given to their ranks.
//
//   operands  0  a b c d    1  e f g h     2 ranks, rows of one element
//   reduced   a+e b+f c+g d+h
//   results   0  a+e c+g    1  b+f d+h
#pragma once

#include "runtime/comm/Reduce.h"
#include "runtime/program/Blocks.h"
#include <span>

namespace tessera::runtime {

// Whether that is faster than each rank's rows by themselves: not with rows of some kilobytes.
bool hasScatteredRows(const Transfer &transfer, uint32_t ranks);

// Rows [begin, end) of all results, of elements of `element` bytes.
void reduceRows(const Transfer &transfer, ReduceFunction reduce,
                std::span<const char *const> operands, std::span<char *const> results,
                int64_t begin, int64_t end, int64_t element);

} // namespace tessera::runtime
