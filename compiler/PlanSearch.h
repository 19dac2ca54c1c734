// What is worth compiling of all ways to shard a program.
#pragma once

#include "compiler/PlanReport.h"
#include "lib/plan/KnownPlans.h"

namespace tessera::planning {

// What the search finds on a mesh, and what people know: the first `mostKnown` of it, pure kinds
// before mixtures.
std::vector<Candidate> candidatesOn(const OnMesh &onMesh, const plan::KnownPlans &known,
                                    const plan::Options &options, size_t mostKnown);

// Of how many candidates are worth compiling, by the effort and the size of the program.
size_t mostTrials(const Source &source, int effort);

// How many known plans of each mesh are worth pricing.
size_t mostKnownPlans(const Source &source, int effort, size_t meshes);

// Compiles the best of them, and the best of each kind; of those that fit the quickest wins.
void compileBest(const Source &source, std::vector<Candidate> &candidates, int effort);

} // namespace tessera::planning
