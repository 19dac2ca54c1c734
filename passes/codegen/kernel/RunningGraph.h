// A running reduction's elements as nodes over its loops (RunningLoops.h).
#pragma once

#include "passes/codegen/kernel/KernelGraph.h"
#include "passes/codegen/kernel/RunningLoops.h"

namespace tessera::codegen {

struct RunningGraph {
  // Adds them to the graph of the op's kernel. False: an error was emitted.
  bool build(KernelGraph &g, stablehlo::ReduceWindowOp op, const RunningLoops &loops);

  unsigned outerDim = 0, dim = 0, innerDim = 0;
  Index offset = nullptr; // of an element
  // Its inputs are the elements; no inits: they are neutral, and else they come last.
  Reduction reduction;
  llvm::SmallVector<ElementKind> kinds; // of what is stored, by component
};

} // namespace tessera::codegen
