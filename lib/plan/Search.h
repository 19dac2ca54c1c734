// The best plan of a program on one mesh.
#pragma once

#include "lib/cost/Topology.h"
#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/KnownPlans.h"

namespace tessera::plan {

// Of one assignment; for several, AssignmentPrices.
double assignmentSeconds(const Program &program, const sharding::Mesh &mesh,
                         const cost::Topology &topology, const Assignment &assignment);

// Annotations that the program has hold; where it has any, they are of this mesh.
Plan planOnMesh(const KnownPlans &known, AssignmentPrices &prices, const Options &options);

Plan planOnMesh(const Program &program, const sharding::Mesh &mesh, const cost::Topology &topology,
                const Options &options);

} // namespace tessera::plan
