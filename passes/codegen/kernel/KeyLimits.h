// Which keys a causal mask or a window leaves, from the comparisons of positions that make it.
#pragma once

#include "passes/codegen/kernel/LoopGroups.h"

namespace tessera::codegen {

// Which keys a row of queries can see: `a - b >= least`, linear in the key. Of the rows m it is
// widest at the last one or the first.
struct KeyLimit {
  Node *a, *b;
  int64_t least;
  bool fromAbove; // keys up to one; else from one on
  bool atLastRow;
};

struct KeyLimits {
  llvm::SmallVector<KeyLimit, 2> each;
  // Of keys that are not within all of them the score is this.
  double fill = 0;
};

// None where the score is no selection between scores and a constant.
KeyLimits limitsOf(Node *score, const LoopGroup &queries, const LoopGroup &keys);

// Of all pairs of queries and keys, those within the limits, as far as they are constants. The limits
// of parts of the keys, which are a loop of `outer`, lie elsewhere in each.
double shareWithin(const KeyLimits &limits, const LoopGroup &queries, int64_t queryCount,
                   int64_t keyCount, const Graph &graph, llvm::ArrayRef<LoopGroup> outer);

} // namespace tessera::codegen
