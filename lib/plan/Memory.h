// What a device holds while a program runs, by the lifetimes of its values.
#pragma once

#include "lib/plan/Program.h"

namespace tessera::plan {

// When it has memory of its own: the value, and those that are folded into it.
llvm::SmallVector<Lifetime, 1> lifetimes(const ValueFacts &facts);

// Bytes that a device has of a value that is sharded so, when it has them.
double heldBytes(const Program &program, int32_t value, const sharding::TensorSharding &sharding);

// The most that is held at one time.
double peakBytes(const Program &program, const Assignment &assignment);

} // namespace tessera::plan
