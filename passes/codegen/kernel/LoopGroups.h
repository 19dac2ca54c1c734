// Loops that can be run as one.
//
//   order (i, j), all accesses a[i * 8 + j] with 8 indices j   ->   one group {i, j}
//                 an access b[j * 4 + i] among them            ->   two groups {i} {j}
//
// A group is a list of loops, outer first; its position counts through them like digits.
#pragma once

#include "passes/codegen/kernel/Graph.h"

#include <optional>

namespace tessera::codegen {

using LoopGroup = llvm::SmallVector<unsigned, 4>;

// `order` is a list of loops, outer first; the result lists groups of them, outer first. Loops of
// one index are in none.
llvm::SmallVector<LoopGroup> collapseLoops(const Graph &graph, llvm::ArrayRef<unsigned> order,
                                           llvm::ArrayRef<Node *> nodes,
                                           llvm::ArrayRef<Index> stores);
// Bounds of a group's loop.
std::pair<int64_t, int64_t> boundsOf(const Graph &graph, llvm::ArrayRef<unsigned> group);
int64_t pointsOf(const Graph &graph, llvm::ArrayRef<unsigned> dims); // of the whole loops
DimSet setOf(llvm::ArrayRef<unsigned> dims);
// How far the index moves with each step of a group's loop. None where that differs from step to
// step: of what a reshape leaves as quotients and remainders, and of positions read from data.
std::optional<int64_t> strideOf(Index index, llvm::ArrayRef<unsigned> group);

} // namespace tessera::codegen
