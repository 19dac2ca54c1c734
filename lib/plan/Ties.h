// Of plans that take as long, one that does not depend on how the search came to them.
//
//   w [{}, {x}] or [{x}, {}]    as long: the earlier dimension
//   w [{}, {}]                  as long, too, but each device holds more
#pragma once

#include "lib/plan/Rounds.h"

namespace tessera::plan {

// Has arguments, and what takes their place, lie so that devices hold least; then divided along fewest and
// earliest dimensions, by earliest axes: one after another, where a step takes as long, with all else as it
// was or, in small graphs, as the solver has it then.
void takeSimplestTies(AssignmentPrices &prices, Rounds &rounds, BestFound &best);

} // namespace tessera::plan
