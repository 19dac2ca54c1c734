// Which devices meet in a collective.
#pragma once

#include "runtime/program/Decoded.h"

namespace tessera::runtime {

Result<GroupSet> groupsOf(const program::Collective &collective, const MeshGrid &mesh);

// Equal for collectives over the same groups.
std::string groupSignature(const program::Collective &collective);

} // namespace tessera::runtime
