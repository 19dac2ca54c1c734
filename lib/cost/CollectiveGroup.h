// What of a collective's price does not depend on what it carries, for who asks often.
#pragma once

#include "lib/cost/Topology.h"

namespace tessera::cost {

struct CollectiveGroup {
  int64_t size = 1;
  links::Route route; // empty where all links are alike
};

CollectiveGroup collectiveGroup(const Topology &topology, const sharding::Mesh &mesh,
                                llvm::ArrayRef<sharding::AxisRef> group);
CollectiveTime collectiveTime(const Topology &topology, const sharding::Mesh &mesh,
                              CollectiveKind kind, double bytes, const CollectiveGroup &group);

} // namespace tessera::cost
