// Nodes of FusionGraph.h that make the parts of sums over columns (ColumnSums.h), and what tells which
// kernels may have them: one that goes over the same arrays anyway, and keeps no row of which a part
// would have several.
//
//   dx[r, c] = f(x, dy), which keeps rows of c; a[c], b[c]: sums of g(x, dy) and of dy
//   ->  one kernel makes dx and parts of a and b; another one their sums
#pragma once

#include "lib/fusion/FusionGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::fusion {

struct SumParts {
  uint32_t window = 0; // number of the window that a part is of
  int outer = 0;       // dimensions before the columns
};

// Beside the nodes of a graph. Those that make parts are `Alone` there; their elements and their space
// are those of their operand, which they read as `Reduced`.
struct SumPartsTable {
  llvm::DenseMap<int, SumParts> parts;    // by node
  llvm::DenseMap<uint32_t, int> rowsFrom; // by Node::reduced: dimensions before a row's
  llvm::DenseMap<int, llvm::SmallVector<int, 2>>
      arrays;                       // by node: numbers of those from outside of
                                    // the block that it reads element by element
  llvm::DenseMap<int, int> updated; // by Update node: which of those it changes
  llvm::DenseSet<int> paired;       // nodes of complex numbers, stored as pairs
};

Plan planKernels(llvm::ArrayRef<Node> nodes, const SumPartsTable &table, const Limits &limits = {});

} // namespace tessera::fusion
