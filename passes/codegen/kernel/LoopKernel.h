// A kernel that is a loop: a stablehlo.while whose regions hold the kernels of a trip (exec.fused),
// their views, and branches. What it carries lies on the stack, but for large arrays, which kernels of
// the trips update where they lie.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "lib/cost/KernelWork.h"
#include "passes/codegen/kernel/KernelSource.h"

namespace tessera::codegen {

constexpr int64_t mostBytesOfCarried = 1024;

// Null where the kernel is none.
stablehlo::WhileOp loopOf(const KernelSource &kernel);
// Of all trips, where they are counted; of one, where data ends the loop.
cost::KernelWork workOfLoop(const KernelSource &kernel, stablehlo::WhileOp loop);

} // namespace tessera::codegen
