// Which keys a causal mask or a window leaves, from the comparisons of positions that make it.
#pragma once

#include "passes/codegen/kernel/AttentionLoops.h"

namespace tessera::codegen {

// Fills in `limits` and `fill`, where the score is a selection between scores and a constant.
void findLimits(AttentionLoops &attention);

} // namespace tessera::codegen
