// The best plan of a program on one mesh.
#pragma once

#include "lib/cost/Topology.h"
#include "lib/plan/Program.h"

namespace tessera::plan {

// Seconds of a step with all values sharded so: of each op the cheapest way to compute it, as
// resharding decides it, and what moves to it and from it. The sum that a search makes least.
double assignmentSeconds(const Program &program, const sharding::Mesh &mesh,
                         const cost::Topology &topology, const Assignment &assignment);

// Annotations that the program has hold; where it has any, they are of this mesh.
Plan planOnMesh(const Program &program, const sharding::Mesh &mesh, const cost::Topology &topology,
                const Options &options);

} // namespace tessera::plan
