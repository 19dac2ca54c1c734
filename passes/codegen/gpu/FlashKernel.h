// Attention and its gradient by tiles, as the cpu finds them (kernel/AttentionLoops.h, GradientLoops.h).
#pragma once

#include "passes/codegen/gpu/FlashTiles.h"
#include "passes/codegen/kernel/AttentionLoops.h"
#include "passes/codegen/kernel/GradientLoops.h"

namespace tessera::codegen::gpu {

void emitFlashForward(EntryFunction &function, const AttentionLoops &loops,
                      const JointNests &nests);
void emitFlashGradient(EntryFunction &function, const GradientLoops &loops,
                       const JointNests &nests);

} // namespace tessera::codegen::gpu
