// Blocks of a collective whose rows are shorter than a vector, as where the last dimension of an array
// is scattered over many ranks.
#pragma once

#include "runtime/comm/Reduce.h"
#include "runtime/program/Blocks.h"
#include <span>

namespace tessera::runtime {

// Whether reducing row by row would take longer than bringing rows together first.
bool hasShortRows(const Block &block);

// Reduces bytes [begin, end) of the block, whole elements of `element` bytes: the rows of each source
// are laid one behind the other, as the target has them.
//
//   source 0  a . . b . . c      a b c
//   source 1  d . . e . . f      d e f      target  a+d b+e c+f
void reduceTogether(const Block &block, ReduceFunction reduce, std::span<const char *const> sources,
                    char *target, int64_t begin, int64_t end, int64_t element);

} // namespace tessera::runtime
