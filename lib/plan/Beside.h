// What a device can compute while a value is brought elsewhere: ops that neither make the value nor are made
// of it, as near in the program as order looks for them (lib/cost, passes/order).
//
//   h = x . w        beside w's way to h: what is computed before it
//   g = x' . d       beside g's way to the update: all that neither g nor d is made of, and what follows
//   y = h . v        beside h's way to y: nothing
//
// What is handed on from where it is made has to be there for its first reader. What is brought elsewhere for
// a reader has to be there for that one: an activation that the backward pass alone reads in other parts comes
// while all between is computed.
//
// What a loop's round brings of what is there before it, it can bring while the round before computes.
#pragma once

#include "lib/cost/Topology.h"
#include "lib/plan/Program.h"

#include "llvm/ADT/ArrayRef.h"

namespace tessera::plan {

// Seconds beside one movement of a value: to where it lies; and to where the reader needs it that leaves most.
struct BesideSeconds {
  double handedOn = 0, brought = 0;
};

// `work`: of each op, seconds of one execution on a device. Of each value.
std::vector<BesideSeconds> secondsBesideOf(const Program &program, llvm::ArrayRef<double> work);

// Each op by what it takes on a machine whose devices share it evenly. What is found stands in the program.
void findSecondsBeside(Program &program, int64_t devices, const cost::Topology &topology);

} // namespace tessera::plan
