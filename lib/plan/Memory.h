// What a device holds while a program runs, by the lifetimes of its values.
#pragma once

#include "lib/plan/Program.h"

namespace tessera::plan {

// Bytes that a device has of a value that is sharded so; 0 where it has no memory of its own.
double heldBytes(const Program &program, int32_t value, const sharding::TensorSharding &sharding);

// The most that is held at one time.
double peakBytes(const Program &program, const Assignment &assignment);

} // namespace tessera::plan
