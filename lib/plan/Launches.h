// What starting kernels takes of a device, beside their work, and however that is divided.
#pragma once

#include "lib/cost/Topology.h"
#include "lib/plan/Program.h"

namespace tessera::plan {

// Of one execution of an op, which has a part of its kernels' launches; of a step.
double launchSeconds(const OpFacts &op, const cost::Topology &topology, int64_t devices);
double launchSeconds(const Program &program, const cost::Topology &topology, int64_t devices);

} // namespace tessera::plan
