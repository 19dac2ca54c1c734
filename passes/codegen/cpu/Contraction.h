// dot_general and convolution as one thing: out[m, n] = sum over k of a[m, k] * b[k, n], where m, n
// and k each may be several loops and a and b are any nodes (a convolution's a is a masked load at
// strided places).
#pragma once

#include "passes/codegen/cpu/NestGraph.h"

namespace tessera::codegen {

using Group = llvm::SmallVector<unsigned, 4>; // loops merged into one, see Emitter::collapse

// The loops and operands of one contraction, and how it is tiled.
struct ContractionPlan {
  Node *product = nullptr; // the Reduced node
  Node *a = nullptr, *b = nullptr;
  llvm::SmallVector<Group> outer; // batch loops, and loops of m and n but for one of each
  Group m, n;
  llvm::SmallVector<Group> k;
  int64_t mSize = 1, nSize = 1, kSize = 1;
  llvm::SmallVector<int64_t> kStride; // of each group of k in the flattened k
  int64_t rows = 1;                   // of a tile in registers
  unsigned lanes = 1, vectors = 1;    // its columns: `vectors` of `lanes`
  bool packsA = false, packsB = false;
  bool acrossA = false;  // a is packed with m innermost rather than k
  bool acrossB = false;  // b lies with k innermost: it is transposed while it is packed
  bool isPaired = false; // bf16 by pairs of k
  // Cells: chunks of n, times chunks of m, times ranges of the outer loops' points.
  int64_t mChunk = 1, nChunk = 1, outerChunk = 1, outerCount = 1;
  // Rows of a side by side when it is packed with m innermost.
  int64_t packedRows() const { return llvm::alignTo(mChunk, 16); }
  int64_t columns() const { return static_cast<int64_t>(lanes) * vectors; }
};

// Empty when the nest is no contraction, or one too small or too odd for tiles.
std::optional<ContractionPlan> planContraction(NestGraph &nest);

// Emits a kernel of one contraction; `known` false: it is none that tiles suit.
bool emitContraction(KernelFunction &function, bool &known);

} // namespace tessera::codegen
