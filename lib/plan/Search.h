// The best plan of a program on one mesh.
#pragma once

#include "lib/cost/Topology.h"
#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/KnownPlans.h"
#include "lib/plan/Rounds.h"

namespace tessera::plan {

// Of one assignment; for several, AssignmentPrices.
double assignmentSeconds(const Program &program, const sharding::Mesh &mesh,
                         const cost::Topology &topology, const Assignment &assignment);

// A plan that people know.
struct KnownPlan {
  AxisRoles roles; // none: nothing in parts but what annotations split
  Assignment values;
};

struct PlansOnMesh {
  Plan best;
  std::vector<KnownPlan> known; // where the search began, in the order of KnownPlans::on
};

// Annotations that the program has hold; where it has any, they are of this mesh. Without `breaksTies` that is
// left to who goes on with `refined`.
PlansOnMesh plansOnMesh(const KnownPlans &known, AssignmentPrices &prices, const Options &options,
                        bool breaksTies = true);

// Whether the best of a mesh is proven well enough. Of small programs more is asked for: what else could
// take its place with the next change of the program is then left out.
bool isProven(const Program &program, double seconds, double lowerBound);

// What a longer search on one mesh finds, from a plan of it on: on all meshes it would take too long. Where
// the plan is proven by the bound that is known, only its ties are broken.
BestFound refined(AssignmentPrices &prices, const Assignment &plan, double lowerBound,
                  const Options &options);

// The best from plans that are known, one at least, by the weights that `prices` has; no ties are broken.
BestFound bestFrom(AssignmentPrices &prices, llvm::ArrayRef<const Assignment *> known,
                   const Options &options, bool isThorough);

// The best of them, of a program that is folded meanwhile (Folded.h).
Plan planOnMesh(const Program &program, const sharding::Mesh &mesh, const cost::Topology &topology,
                const Options &options);

} // namespace tessera::plan
