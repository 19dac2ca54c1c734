// Sums (maxima, ..) that the threads of a block compute together, in the order of OrderedSums.cpp:
//
//   16 threads are the lanes of a unit, and every 16 take fours of units in turn:
//     threads 0..15     four 0   four 16  ..     partial sums, lane by lane, in shared memory
//     threads 16..31    four 1   four 17  ..
//   after a barrier threads 0..15 add the fours of their lane in sixteens, and sixteens of those, and
//   what is left over at the end; after another every thread folds the lanes.
//
// In a long row every 16 threads take sixteen fours of units at a time, and add them up before.
//
// So neighbours read side by side, each element is read once, and the bits are those of one thread.
#pragma once

#include "passes/codegen/gpu/EntryFunction.h"

namespace tessera::codegen::gpu {

// Whether a block computes it together: along rows of a simple reducer, with enough of them.
bool isBlockSum(const Emitter &emitter, const Reduction &reduction);

// Of shared memory, which several sums may use one after the other.
int64_t blockSumBytes(const Emitter &emitter, const Reduction &reduction);

// Threads that compute one: a block's, or a part of them beside others that do the same.
struct Team {
  Value thread; // its number among them
  int64_t threads;
};

// Writes it at the emitter's place, which all threads of the block reach: the components with their
// initial values.
llvm::SmallVector<Value> emitBlockSum(const Team &team, Emitter &emitter,
                                      const Reduction &reduction, Value space);

} // namespace tessera::codegen::gpu
