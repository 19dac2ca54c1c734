// Plain loops over a graph's dimensions, for kernels that walk an index space in an order of their
// own.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::codegen {

struct LoopRange {
  unsigned dim;
  Value low = nullptr, high = nullptr; // null: the whole dimension
};

// Runs `body` at every point, the last loop by vectors of `lanes`; a rest is masked. Bodies are
// emitted once, or twice when there is a rest.
void loopOver(Emitter &emitter, llvm::ArrayRef<LoopRange> loops, unsigned lanes,
              llvm::function_ref<void()> body);

// Runs `body` at the vectors of `lanes` of [from, to) of a group of loops, its first place given; of a
// rest with fewer lanes, or a mask. `step`: 0 where [from, to) is all of it; else it is a part, which
// begins and ends at a multiple of `step` from zero, or from the loop's own begin, or where the loop does.
void overVectors(Emitter &emitter, llvm::ArrayRef<unsigned> group, unsigned lanes, Value from,
                 Value to, int64_t step, llvm::function_ref<void(Value at)> body);

// The part of `size` indices that chunk `number` of `chunk` indices each has.
std::pair<Value, Value> chunkRange(Emitter &emitter, Value number, int64_t chunk, int64_t size);

// Takes the lowest digit off a number that has `base` of them there.
Value takeDigit(Emitter &emitter, Value &number, int64_t base);

} // namespace tessera::codegen
