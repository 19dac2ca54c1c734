// What running a kernel costs, and how it is divided into cells of a grid.
#pragma once

#include "passes/codegen/kernel/Graph.h"

namespace tessera::codegen {

// What running these nodes costs, in about a sixteenth of a cycle, and the floating-point
// operations in it.
struct Work {
  double cost = 0, flops = 0;
};
Work workOf(const Graph &graph, llvm::ArrayRef<Node *> nodes);

// Cells of work over a nest of loops.
struct Partition {
  unsigned prefix = 0; // loops before this one: one index a cell
  int64_t chunks = 1;  // of loop `prefix`
  int64_t chunk = 1;   // its indices a cell
  int64_t cells = 1;
};
// `sizes` of the loops, outer first; `cost` of all their points. Never depends on the machine.
Partition partitionWork(llvm::ArrayRef<int64_t> sizes, double cost);

} // namespace tessera::codegen
