// Sums that are scalars travel together: order joins what is there at about the same time, so that many take the
// latency of one (passes/order/JoinCollectives.h).
//
//   a = |g|^2   b = |h|^2   c = |k|^2      three that do not need each other: each takes a third of a message
//   s = f(a + b + c)
//   d = |s g|^2                            is made of them: it comes later, alone
//
// Of arrays each is brought by itself: their bytes mostly matter more.
#pragma once

#include "lib/plan/Program.h"

namespace tessera::plan {

// Of each scalar that is a sum: with how many of its block it travels, as many sums being before them.
void findTogether(Program &program);

} // namespace tessera::plan
