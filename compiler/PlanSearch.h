// What is worth compiling of all ways to shard a program.
#pragma once

#include "compiler/PlanReport.h"
#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/KnownPlans.h"

namespace tessera::planning {

// What the search finds on a mesh, and what people know: pure kinds before mixtures. `known` is of
// the folded program.
std::vector<Candidate> candidatesOn(const OnMesh &onMesh, const plan::KnownPlans &known,
                                    const plan::Options &options);

// What a plan's computing takes, of what the search counts.
double computingOf(plan::AssignmentPrices &prices, const plan::Assignment &folded);

// Of how many candidates are worth compiling, by the effort and the size of the program.
size_t mostTrials(const Source &source, int effort);

void tryCandidate(const Source &source, Candidate &candidate);

// Compiles the best of them, and the best of each kind; of those that fit the quickest wins.
void compileBest(const Source &source, std::vector<Candidate> &candidates, int effort);

} // namespace tessera::planning
