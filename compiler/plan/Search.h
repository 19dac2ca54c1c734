// What is worth compiling of all ways to shard a program.
#pragma once

#include "compiler/plan/Report.h"
#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/KnownPlans.h"

namespace tessera::planning {

// What the search finds on each mesh, and what people know: pure kinds before mixtures.
struct Searched {
  std::vector<Candidate> candidates;
  // Of a large program, for which ties are not broken: on the mesh where least is counted, where a longer search
  // mostly goes on. Others would take memory.
  std::unique_ptr<plan::AssignmentPrices> prices;
};
Searched searchedOn(const Source &source, llvm::ArrayRef<const OnMesh *> onMeshes,
                    const plan::Options &options, bool breaksTies);

// What people call a plan of a mesh; kSearch if they have no name for it.
std::string nameOf(llvm::ArrayRef<Candidate> candidates, const OnMesh &onMesh,
                   const plan::Assignment &folded);

// Writes down what the search counts for the candidate: of a step, and of memory.
void count(Candidate &candidate, plan::AssignmentPrices &prices, const plan::Options &options);

// Of how many candidates are worth compiling, by the effort and the size of the program.
size_t mostTrials(const Source &source, int effort);

// Whether its trials take so long that none is made of what cannot fit, and few of what is counted not to.
bool sparesTrials(const Source &source);

// With more than the fewest annotations, though these are asked for, where not all values lie as planned.
// `read`: as of tryPlan.
void tryCandidate(const Source &source, mlir::ModuleOp read, Candidate &candidate,
                  const TrialWishes &wishes);

// Of a program that is not large, those that are compiled: the best, and the best of each kind; of those that
// fit the quickest wins. `bound`: bytes that a device has, where arguments and results lie there; 0: any.
std::vector<Candidate *> bestToTry(const Source &source, std::vector<Candidate> &candidates,
                                   int effort, int64_t bound);

constexpr double kBetter = 2e-3; // that a plan is worth compiling

// Of plans that were found by what hides the quickest, and the quickest where some of that is waited for: if
// they are counted below the one that was chosen, on whose mesh they are, and were not compiled yet.
std::vector<Candidate> betterHidden(llvm::ArrayRef<Candidate> candidates, const Candidate &chosen,
                                    llvm::ArrayRef<plan::Assignment> plans,
                                    plan::AssignmentPrices &prices, const plan::Options &options);

} // namespace tessera::planning
