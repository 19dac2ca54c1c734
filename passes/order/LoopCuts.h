// Where else the trips of a loop could begin, decided on plain data.
//
//   body        G  w  x  R      G: gathers what w reads; R: reduces what x makes; x reads w's result
//   trips       G w x R | G w x R | ..        G and R have nothing beside them
//   cut "G"     G | w x R G | w x R G | ..    G runs beside x, for the next trip
//   cut "Gwx"   G w x | R G w x | ..          R runs beside w and x of the next trip
//   cut "Gw"    G w | x R G w | ..            G beside x, R beside w
#pragma once

#include "lib/cost/Timeline.h"
#include "llvm/ADT/BitVector.h"
#include <vector>

namespace tessera::order {

struct LoopBody {
  llvm::ArrayRef<cost::Task> tasks;
  llvm::ArrayRef<int> order; // of the tasks: each after its operands
  llvm::BitVector ahead; // tasks of a later trip that could run now: they read no trip's results
  llvm::BitVector condition; // tasks that decide whether a trip runs
};

// Sets of tasks with which trips begin ahead (A of RotateLoop.h): at several places of the order, each
// with the collectives moved across that would be exposed there. A task is in one only with all its
// operands; none is empty or everything.
std::vector<llvm::BitVector> cutsOf(const LoopBody &body);

} // namespace tessera::order
