// The plan of a mesh of which a device holds least, as the search counts memory: what is asked for where
// none fits. Seconds do not count: a device is given less and less, between what a plan holds that is
// known and what none can do without, each time half of what lies between.
//
//   known 315, given 29     asked for 172: found 120     for 74: none     for 97: found 95     ..
#pragma once

#include "lib/plan/AssignmentPrices.h"

namespace tessera::plan {

struct LeastHeld {
  Assignment values;
  double bytes = 0;
};

// `least`: bytes that no plan is below.
LeastHeld leastHeld(AssignmentPrices &prices, const Assignment &known, double least);

} // namespace tessera::plan
