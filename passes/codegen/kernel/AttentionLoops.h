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
#include "passes/codegen/kernel/JointNests.h"
#include "passes/codegen/kernel/KeyLimits.h"

#include <string>

namespace tessera::codegen {

struct AttentionLoops {
  // b are the values and the keys; m are queries in both, and `values.k` are the keys' loops, which
  // are scores.n.
  ContractionLoops values, scores;
  Node *score = nullptr;       // x
  Node *shift = nullptr;       // what is subtracted from it, a function of `largest`
  Node *largest = nullptr;     // Reduced, over loops of its own
  Node *exponential = nullptr; // e
  Node *sum = nullptr;  // Reduced, over loops of its own; null where another kernel has it, or none
  Node *ties = nullptr; // how many scores are the largest; null where that is not asked for
  // e by the normalizer; values.a is linear in it. Null where the result is divided by the program.
  Node *quotient = nullptr;
  Node *normalizer = nullptr; // a function of `sum`
  bool isDivided = true;      // by the normalizer, rather than multiplied
  KeyLimits limits;
};

// Empty when the nests are something else; `why` says what is in the way. The first one's output is
// the result; others may be the largest score of each row, the sum, and how many are the largest.
std::optional<AttentionLoops> findAttention(const JointNests &nests, std::string &why);

fusion::Attention sizesOf(const AttentionLoops &attention);

} // namespace tessera::codegen
