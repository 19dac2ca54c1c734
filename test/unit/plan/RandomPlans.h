// Shardings for all values of a program, drawn by a seed.
#pragma once

#include "lib/plan/Program.h"

#include <random>

namespace tessera::plan {

// `split`: how many of the arguments get a sharding, at random, of which the others' follow by
// propagation. `changed`: how many values lie anyhow in spite of that. Both from 0 to 1.
Assignment randomPlan(const Program &program, const sharding::Mesh &mesh, std::mt19937_64 &random,
                      double split, double changed);

} // namespace tessera::plan
