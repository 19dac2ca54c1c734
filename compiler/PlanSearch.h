// What is worth compiling of all ways to shard a program.
#pragma once

#include "compiler/PlanReport.h"

namespace tessera::planning {

// What the search finds on a mesh, and what people know; the best first, as the search counts.
std::vector<Candidate> candidatesOn(const OnMesh &onMesh, const plan::Options &options);

// Compiles the best of them, and the best of each kind; of those that fit the quickest wins. How many
// depends on the effort and the size of the program.
void compileBest(const Source &source, std::vector<Candidate> &candidates, int effort);

} // namespace tessera::planning
