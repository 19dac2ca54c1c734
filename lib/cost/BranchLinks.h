// Links that either of two computations holds, of which one is carried out: the blocks of a branch, whose
// time is that of the longest.
//
//   one: a a a g g g a a    8 s, from 3 s, until 2 s before its end
//   or:  b g g g b          5 s, from 1 s, until 1 s before its end
//   either:                 8 s, from 3 s, until 2 s: the other may wait 3 s more, and ends 3 s before
//
// Plain data.
#pragma once

#include "lib/cost/Timeline.h"

namespace tessera::cost {

LinkUse eitherOf(LinkUse one, double secondsOfOne, LinkUse other, double secondsOfOther);

} // namespace tessera::cost
