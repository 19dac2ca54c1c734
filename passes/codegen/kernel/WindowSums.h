// Sums whose operands have the result's innermost loop both, so that they are no product of matrices:
// the gradient of a depthwise convolution's filter.
//
//   out[p, q, c] = sum over b, y, x of image[b, y + p, x + q, c] * gradient[b, y, x, c]
//
// The loops that one operand has alone (p and q) are rows: the other operand is read once for all of
// them, and their sums are held at a time.
#pragma once

#include "passes/codegen/kernel/LoopGroups.h"
#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen {

struct WindowSums {
  Node *product = nullptr;         // the Reduced node
  Node *a = nullptr, *b = nullptr; // `a` has the rows
  llvm::SmallVector<LoopGroup> outer;
  llvm::SmallVector<unsigned> rows; // loops
  LoopGroup n;
  int64_t rowCount = 1, outerCount = 1, nSize = 1;
  static constexpr int64_t lanes = 16; // of a cell, where there are as many
  int64_t cells() const { return outerCount * ((nSize + lanes - 1) / lanes); }
};

// Empty where the nest is none, or one of few terms.
std::optional<WindowSums> findWindowSums(const NestGraph &nest);

} // namespace tessera::codegen
