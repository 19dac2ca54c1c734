// A contraction (kernel/ContractionLoops.h) by tiles of vector registers.
#pragma once

#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/kernel/GroupedProduct.h"
#include "passes/codegen/kernel/TermRange.h"

namespace tessera::codegen {

struct ContractionPlan : ContractionLoops, ContractionCells {
  int64_t rows = 1;                // of a tile in registers
  unsigned lanes = 1, vectors = 1; // its columns: `vectors` of `lanes`
  bool packsA = false, packsB = false;
  bool acrossA = false;  // a is packed with m innermost rather than k
  bool inTilesA = false; // the same, but that the rows of each tile are together: [tile][k][rows]
  bool acrossB = false;  // b lies with k innermost: it is transposed while it is packed
  bool isAlongK = false; // so along k's loops as b has them
  bool isBySets = false; // panels of b begin in different sets of the first-level cache
  bool isPaired = false; // by pairs of k: bf16, and integers of 16 bits and less
  bool byTiles = false;  // bf16 by the processor's tiles (ContractionTiles.cpp)
  std::optional<TermRange> terms = std::nullopt; // that are not left out
  bool hasPairs() const { return isPaired || byTiles; }
  bool hasPairsOfBf16() const { return isPaired && !isOfIntegers(); }
  bool isOfIntegers() const { return product->reduction->isOfIntegers; }
  // In panels.
  ElementKind packedKind() const {
    return !hasPairs() ? product->kind : isOfIntegers() ? ElementKind::I16 : ElementKind::BF16;
  }
  // The same of an operand: bits of bf16 are only moved.
  ElementKind packedKind(const Node *operand) const {
    return operand->kind == ElementKind::U16 ? ElementKind::U16 : packedKind();
  }
  // Of k in a panel: tiles multiply whole units.
  int64_t panelK() const {
    return kBlock ? kBlock : byTiles ? llvm::alignTo(kSize, Reduction::tileUnit) : kSize;
  }
  // Of a panel of b in the scratch: what lies behind a run's last square is another panel's else. A row
  // more, and those that a row of k is copied to lie in different sets of the first-level cache.
  int64_t panelLength() const {
    return panelK() + (isAlongK && kBlock ? lanes : 0) + (isBySets && kBlock ? 1 : 0);
  }
  // Elements of such a tile of a: they begin in different sets, too.
  int64_t tileOfA() const { return rows * panelK() + 16; }
  // Rows of a side by side when it is packed with m innermost.
  int64_t packedRows() const { return llvm::alignTo(mPanel, 16); }
  // Sums of a cell that wait for the next block of k.
  int64_t sumElements() const {
    return llvm::divideCeil(mChunk, rows) * rows * llvm::divideCeil(nChunk, columns()) * columns();
  }
  int64_t columns() const { return static_cast<int64_t>(lanes) * vectors; }
};

// Empty when the nest is no contraction, or one too small or too odd for tiles.
std::optional<ContractionPlan> planContraction(const NestGraph &nest,
                                               const VectorFeatures &features);

// The same of loops that are known, by vector registers.
ContractionPlan planByVectors(const NestGraph &nest, const ContractionLoops &loops,
                              const VectorFeatures &features);

// The tile of a plan by vector registers, from its loops' sizes.
void chooseTile(ContractionPlan &plan, const VectorFeatures &features);
// The same by the processor's tiles.
void chooseUnits(ContractionPlan &plan, Graph &graph);
// Whether it goes by pairs of k, and what is multiplied then.
void choosePairs(ContractionPlan &plan, Graph &graph, const VectorFeatures &features);
// How the operands that it copies are copied: along what is contiguous in memory.
void chooseCopies(ContractionPlan &plan, const Graph &graph);

// The lanes of a row whose pairs have changed places. vdpbf16ps adds the product of the second of a
// pair first, so that comes to hold the lower k: products are then added in the order of k, as fused
// multiply-adds elsewhere add them.
llvm::SmallVector<int> pairedLanes(unsigned lanes);

// Emits a kernel of sums that are held at a time (kernel/WindowSums.h); false: it is none.
bool emitWindowSums(KernelFunction &function, NestGraph &nest);

// Emits a product whose rows fall into groups.
void emitGroupedRows(KernelFunction &function, NestGraph &nest, const GroupedProduct &product);

// Emits a kernel of one contraction; `known` false: it is none that tiles suit.
bool emitContraction(KernelFunction &function, bool &known);

} // namespace tessera::codegen
