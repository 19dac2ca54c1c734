#include "passes/codegen/gpu/FlashKernel.h"

namespace tessera::codegen::gpu {

bool emitFlash(EntryFunction &function, bool &known) {
  known = false;
  JointNests nests(function.kernel);
  if (!nests.build())
    return false;
  std::string why;
  std::optional<AttentionLoops> attention = findAttention(nests, why);
  std::optional<GradientLoops> gradient;
  if (!attention)
    gradient = findGradient(nests, why);
  if (!attention && !gradient)
    return true;
  known = true;
  attention ? emitFlashForward(function, *attention, nests)
            : emitFlashGradient(function, *gradient, nests);
  return true;
}

} // namespace tessera::codegen::gpu
