// Results of a row that are written while the next row is computed.
//
//   max(x), sum(e = exp(x - max)), e / sum     row 1   pass 1, pass 2
//                                              row 2   pass 1, pass 2 beside the results of row 1
//                                              ..
//                                              behind the last row   its results
//
// Results that go past the caches keep the memory busy while little is computed, and a pass that finds
// its row in a cache computes while the memory is idle. One loop for both takes what the slower of the
// two takes, rather than their sum.
#pragma once

#include "passes/codegen/kernel/LoopGroups.h"

#include <optional>

namespace tessera::codegen {

struct RowBehind {
  const Reduction *pass; // beside which results of the row before are written
  // What results need of their row: it stays until the next row has been passed over.
  llvm::SmallVector<Node *> carried;
  llvm::SmallVector<Node *> fillers; // reductions that have stored what results read
};

// What decides whether it pays.
struct BehindWork {
  int64_t operations = 0; // of a result, which is little beside a pass
  bool hasFunctions = false;
  int64_t bytes = 0; // that results read of a row: they lie in a cache until the next row is there
};
bool paysBehind(const BehindWork &work);

// `roots`: results for each element of a row, which vectors along `columns` write in order. `rows`: the
// loop around it, one of `outer`.
std::optional<RowBehind> rowBehind(const Graph &graph, llvm::ArrayRef<Node *> live,
                                   llvm::ArrayRef<Node *> roots, DimSet outer,
                                   const LoopGroup &rows, const LoopGroup &columns);

} // namespace tessera::codegen
