// Loads that lie across the vector loop, as transposes leave them.
//
//   out[c, r] = in[r, c] + 1          loops (c, r), vectors run along r, `in` is contiguous along c
//
// Where the loop along which they are contiguous is one of the nest's, both loops are run by square
// blocks: what such loads read of a block is turned by small squares in registers into a place of
// its own, whose rows are then read by vectors like any other array. So lines and pages of memory are
// read, and written, in runs, and each once.
#pragma once

#include "passes/codegen/kernel/LoopGroups.h"

namespace tessera::codegen {

struct TurnedLoads {
  llvm::SmallVector<Node *> loads;
  size_t along;   // number of the group that they are contiguous in; the last is the vector loop
  int64_t widest; // bytes of an element

  // Of a block, in elements. `isInLines`: results' rows begin anywhere in a line.
  int64_t vectorSide(bool isInLines = false) const;
  int64_t alongSide(bool isInLines = false) const;
};

// Of `live`, the nodes that are computed in the loops `groups`. `isCut`: also those which only parts
// of the loops read, as each of a concatenation's operands: loops will be cut there.
// Lines of fewer than `leastExtent` elements are left as they are.
std::optional<TurnedLoads> turnedLoads(const Graph &graph, llvm::ArrayRef<LoopGroup> groups,
                                       llvm::ArrayRef<Node *> live, bool isCut = false,
                                       int64_t leastExtent = 8);

} // namespace tessera::codegen
