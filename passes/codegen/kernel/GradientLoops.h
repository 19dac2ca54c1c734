// The gradient of attention as one nest: a plane of queries and keys, of which there is never more
// than a block.
//
//   p[t, s], dp[t, s]       products of rows of queries and of keys, each of its own operands
//   f[t, s]                 factors: functions of those and of what is known of each query
//   dv[s, n] = sum over t of f[t, s] * do[t, n]        results of columns (of keys)
//   dq[t, d] = sum over s of f'[t, s] * k[s, d]        and of rows (of queries)
//
// Nothing is asked of the factors: the softmax's largest scores and sums, and the sum over keys in its
// gradient, are arrays of rows that the kernel reads.
#pragma once

#include "lib/fusion/AttentionStays.h"
#include "passes/codegen/kernel/ContractionLoops.h"
#include "passes/codegen/kernel/JointNests.h"
#include "passes/codegen/kernel/KeyLimits.h"

#include <string>

namespace tessera::codegen {

struct GradientLoops {
  std::vector<LoopGroup> outer;  // of rows and columns
  std::vector<LoopGroup> around; // further ones of rows: queries that share their keys
  LoopGroup rows, columns;
  int64_t outerCount = 1, aroundCount = 1, rowCount = 1, columnCount = 1;
  // a is of rows, b of columns; m are the rows, n the columns.
  llvm::SmallVector<ContractionLoops, 2> products;
  struct Result {
    unsigned nest; // of the kernel's outputs
    bool isOfRows;
    unsigned factor; // loops.a
    // b is what the factor is multiplied by, m the rows or the columns that the result is of.
    ContractionLoops loops;
  };
  llvm::SmallVector<Result, 3> results;
  llvm::SmallVector<Node *, 2> factors;
  // Beyond them all factors are zero, where a row's `shift` is far above what is filled in.
  KeyLimits limits;
  Node *shift = nullptr;
};

// Empty when the nests are something else; `why` says what is in the way.
std::optional<GradientLoops> findGradient(const JointNests &nests, std::string &why);

fusion::Attention sizesOf(const GradientLoops &gradient);

} // namespace tessera::codegen
