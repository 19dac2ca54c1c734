// What the gradient of attention does, counted as its code is generated.
#pragma once

#include "lib/cost/KernelWork.h"
#include "passes/codegen/kernel/GradientLoops.h"

namespace tessera::codegen {

// Of one run, without the arrays' bytes.
cost::KernelWork workOf(const JointNests &nests, const GradientLoops &gradient);

} // namespace tessera::codegen
