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

// Whether they are known only when the kernel runs: they may leave no keys at all then.
bool areMoving(const KeyLimits &limits, const LoopGroup &queries);

// A tile of queries takes every key that any of them sees, rounded to whole tiles of keys.
struct KeyTile {
  int64_t queries = 1, keys = 1;
};

// What attention is priced by, whatever tiles the processor's vectors make.
constexpr KeyTile pricedTile{8, 32};

// Of all pairs of queries and keys, those within the limits, as far as they are constants; with a tile,
// of the pairs of whole tiles of keys. Never none: others are divided by it. The limits of parts of
// the keys, which are a loop of `outer`, lie elsewhere in each.
//   four queries, each of which sees the keys up to its own: 10 of 16; by tiles of 2 x 2: 12 of 16
double shareWithin(const KeyLimits &limits, const LoopGroup &queries, int64_t queryCount,
                   int64_t keyCount, const Graph &graph, llvm::ArrayRef<LoopGroup> outer,
                   KeyTile tile = {});

} // namespace tessera::codegen
