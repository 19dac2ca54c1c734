// What a device holds while a program runs, by the lifetimes of its values.
#pragma once

#include "lib/plan/Program.h"

namespace tessera::plan {

// When it has memory of its own: the value, and those that are folded into it.
llvm::SmallVector<Lifetime, 1> lifetimes(const ValueFacts &facts);

// Bytes that a device has of a value that is sharded so, when it has them.
double heldBytes(const Program &program, int32_t value, const sharding::TensorSharding &sharding);

// What a program is given and gives back has of each of so many devices at least, however it lies: each
// array in as many parts as there are devices, and what is donated taken by results.
double leastGivenBytes(const Program &program, int64_t devices);

// What it is given and gives back has of a device where values lie so: no device program of that takes less.
double givenBytes(const Program &program, const Assignment &assignment);

// Something that is held from one op to another.
struct Held {
  int32_t first = 0, last = 0;
  double bytes = 0;
};

// What is held over a step, from op to op.
class HeldOver {
public:
  void add(const Held &held);
  void addValues(const Program &program, const Assignment &assignment);
  double peakBytes() const;

private:
  std::vector<double> change; // by op
};

// The most that is held at one time, of values where they lie.
double peakBytes(const Program &program, const Assignment &assignment);

} // namespace tessera::plan
