// What a program takes, and gives back in its place for the next step: weights, moments, caches.
#pragma once

#include "lib/plan/Program.h"

namespace tessera::plan {

// Values of the graph, both of one shape.
struct State {
  int32_t taken, given;
};

std::vector<State> statesOf(const Program &program);

} // namespace tessera::plan
