// Which ops run together as one kernel, decided on plain data.
//
//   x -- exp --+-- sum -- 1/s -- bcast --+      along rows: one kernel, which keeps a row of exp
//              |                         |      along columns: A: exp (expensive: computed once),
//              +------------------------ mul    B: sum, 1/s (a reduction, its epilogue), C: bcast, mul
//
// Nodes are visited from last to first, so that the kernels of a node's users are known: it joins
// them, is copied into them, or starts a kernel of its own. Time is linear but for a search for
// cycles, which has a budget.
#pragma once

#include "lib/fusion/NodeKinds.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace tessera::fusion {

struct Edge {
  int node;
  Use use;
};

struct Node {
  NodeKind kind = NodeKind::Outside;
  bool expensive = false;  // exp, divide, ..: not worth computing twice
  bool collective = false; // Outside: moves data between devices, so its operands must not be late
  bool free = false;       // Constant: is in the constant section when someone needs it in memory
  bool narrows = false;    // Convert: to a type of fewer bytes
  bool cuts = false;       // Movement: of several pieces, between which its reader is cut
  int64_t elements = 0;    // of the result
  uint32_t space = 0;      // number of the result's shape
  uint32_t reduced = 0;    // Reduce, Broadcast of rows: number of (shape, reduced dimensions)
  llvm::SmallVector<Edge, 3> operands; // nodes before this one
};

struct Kernel {
  std::vector<int> nodes;   // ascending
  std::vector<int> outputs; // the nodes that others read, ascending
};

struct Limits {
  int nodes = 160;   // constants not counted
  int cuts = 4;      // nodes that may cut the index space into pieces with code of their own
  int copies = 3;    // kernels that may compute a cheap value again
  int copyDepth = 2; // length of a chain of such values
  int64_t madeAgainFrom = 1 << 18; // elements: 1 MiB of f32, which a core's own cache does not hold
                                   // from one kernel to the next
  int searchSteps = 4000;
};

struct Plan {
  std::vector<Kernel> kernels; // in no particular order
  std::vector<int> views;      // Reshape nodes that stay outside kernels
};

Plan planKernels(llvm::ArrayRef<Node> nodes, const Limits &limits = {});

} // namespace tessera::fusion
