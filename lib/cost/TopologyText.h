// A topology as a file has it.
#pragma once

#include "lib/cost/Topology.h"

#include <string>

namespace tessera::cost {

// JSON with every member, so that no default of a later release says something else.
std::string topologyText(const Topology &topology);

} // namespace tessera::cost
