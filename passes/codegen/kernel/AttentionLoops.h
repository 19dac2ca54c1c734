// Attention as one nest: sums over keys of softmax(score) times values, where each score is itself a
// sum of products.
//
//   out[m, n] = sum over s of p[m, s] * value[s, n],   p = e / (sum over s of e)
//   e[m, s]   = exp(x[m, s] - max over s of x),        x = any function of sum over k of query * key
//
// Found on the graph, where transposes, reshapes and broadcasts have become indices: the largest
// score, the sum and the probabilities read the same x over loops of their own.
#pragma once

#include "lib/fusion/AttentionStays.h"
#include "passes/codegen/kernel/ContractionLoops.h"

#include <string>

namespace tessera::codegen {

// Which keys a row of queries can see: `a - b >= least`, linear in the key. Of the rows m it is
// widest at the last one or the first.
struct KeyLimit {
  Node *a, *b;
  int64_t least;
  bool fromAbove; // keys up to one; else from one on
  bool atLastRow;
};

struct AttentionLoops {
  // b are the values and the keys; m are queries in both, and `values.k` are the keys' loops, which
  // are scores.n.
  ContractionLoops values, scores;
  Node *score = nullptr;       // x
  Node *shift = nullptr;       // what is subtracted from it, a function of `largest`
  Node *largest = nullptr;     // Reduced, over loops of its own
  Node *exponential = nullptr; // e
  Node *sum = nullptr;         // Reduced, over loops of its own
  // e by the normalizer; values.a is linear in it. Null where the result is divided by the program.
  Node *quotient = nullptr;
  Node *normalizer = nullptr; // a function of `sum`
  bool isDivided = true;      // by the normalizer, rather than multiplied
  // Where no key within the limits is, x is `fill`.
  llvm::SmallVector<KeyLimit, 2> limits;
  double fill = 0;
};

// Empty when the nest is something else; `why` says what is in the way.
std::optional<AttentionLoops> findAttention(const NestGraph &nest, std::string &why);

fusion::Attention sizesOf(const AttentionLoops &attention);
// Of all pairs of queries and keys, those within the limits, as far as they are constants.
double shareWithinLimits(const AttentionLoops &attention);

} // namespace tessera::codegen
