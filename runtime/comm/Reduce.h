// Elementwise reductions over the operands of several ranks, in rank order: ((r0 + r1) + r2) + ..,
// so that the result has the same bits whoever computes it, on any instruction set, in one process
// or over a network. bf16, f16 and the 8-bit floats are accumulated in float32 and rounded once.
// Maximum and minimum pass NaN on.
#pragma once

#include "include/tessera/program.pb.h"
#include <cstdint>

namespace tessera::runtime {

// For one type and reduction: reduces `count` elements of each of `sourceCount` arrays into each of
// `targetCount` arrays. A target may be one of the sources.
using ReduceFunction = void (*)(const char *const *sources, uint32_t sourceCount,
                                char *const *targets, uint32_t targetCount, int64_t count);

ReduceFunction reduceFunction(program::ElementType type, program::Collective::Reduction reduction);

} // namespace tessera::runtime
