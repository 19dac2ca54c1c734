// Sums (maxima, ..) that the threads of a block compute together, in the order of OrderedSums.cpp:
//
//   16 threads are the lanes of a unit, and every 16 take fours of units in turn:
//     threads 0..15     four 0   four 16  ..     partial sums, lane by lane, in shared memory
//     threads 16..31    four 1   four 17  ..
//     threads 0..15     what is left over at the end
//   after a barrier threads 0..15 add the fours of their lane in sixteens, and sixteens of those, and
//   what is left over, and fold the lanes by shuffles; after another every thread reads the sum.
//
// Sixteen threads that have a row for themselves keep all of that in registers: no barrier, no shared
// memory. In a long row every 16 threads take sixteen fours of units at a time, and add them up before.
// Sixteen that have the same banks beside them take each second unit before the first, and add it after
// that.
//
// A sum over several dimensions is one in parts (PartedSum.h), and goes over a row in one window only.
//
// So neighbours read side by side, each element is read once, and the bits are those of one thread.
#pragma once

#include "passes/codegen/gpu/EntryFunction.h"

namespace tessera::codegen::gpu {

// Whether a block computes it together: along rows of a simple reducer, with enough of them.
bool isBlockSum(const Emitter &emitter, const Reduction &reduction);

// Lanes of a unit.
inline constexpr int64_t kUnitThreads = 16;

// Of shared memory, which several sums may use one after the other, by a team of so many threads.
int64_t blockSumBytes(const Emitter &emitter, const Reduction &reduction, int64_t threads);

// Threads that compute one: a block's, or a part of them beside others that do the same.
struct Team {
  Value thread; // its number among them
  int64_t threads;
  bool isAlone = false; // the sixteen beside a sixteen are of the team
};

// Goes over all of a row from end to end, or in windows in any order: what each has is there for the team
// when `add` comes for its elements.
using OverRow = llvm::function_ref<void(llvm::function_ref<void(int64_t low, int64_t high)> add)>;

// Of a sum of one component of 8 bytes over so many elements.
int64_t mostBlockSumBytes(int64_t elements);

// Writes it at the emitter's place, which all threads of the block reach: the components with their
// initial values.
llvm::SmallVector<Value> emitBlockSum(const Team &team, Emitter &emitter,
                                      const Reduction &reduction, Value space,
                                      OverRow overRow = nullptr);

} // namespace tessera::codegen::gpu
