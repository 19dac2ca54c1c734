// What can be computed again so that less is live at the peak.
#pragma once

#include "lib/cost/RematReplay.h"

namespace tessera::cost {

// A value with what it needs, or a stack.
struct RematCandidate {
  std::vector<Recompute> values;
  int stack = -1;
  int64_t bytes = 0; // that fewer are live at the peak
  double seconds = 0;
};

// Of the blocks that are executed at the peak. With `makesLater`, what the step at the peak makes for
// others, too.
std::vector<RematCandidate> candidatesAtPeak(const Simulation &simulation,
                                             const RematChoice &choice, bool makesLater);

} // namespace tessera::cost
