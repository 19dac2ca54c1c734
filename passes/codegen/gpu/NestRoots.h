// What the kinds of kernels whose outputs are functions of an index have in common.
#pragma once

#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen::gpu {

// Computes the results at the current point, and then stores them; `ofRows`: those that have one element
// for each row of the others, or those others.
void emitRoots(EntryFunction &function, const NestGraph &nest, Emitter &e, bool ofRows);

// Elements side by side that a thread has of rows, or of all: several where all that is read and written
// lies side by side, or is the same for all of them, and nothing is added up but what the row alone
// decides.
int64_t lanesOfRow(const NestGraph &nest, llvm::ArrayRef<LoopGroup> groups,
                   llvm::ArrayRef<Node *> live);

// Rows in shared memory; false: they find no room there, or no team of threads computes their sums.
// What is left of the nest's graph is theirs.
bool emitRowBlocks(EntryFunction &function, NestGraph &nest);
bool suitRowBlocks(EntryFunction &function, NestGraph &nest); // whether it would

// The nest cut into these pieces (NestParts.h), where blocks have several of them together; false: each is better off with
// blocks of its own.
bool emitPieces(EntryFunction &function, const NestGraph &nest, llvm::ArrayRef<Box> boxes);

// Elements some of which are read across, by blocks; false: there are none.
bool emitTurned(EntryFunction &function, const NestGraph &nest);

// Sums down columns, by blocks; false: there are none, or as many columns as keep a GPU busy.
bool emitColumnBlocks(EntryFunction &function, const NestGraph &nest);

} // namespace tessera::codegen::gpu
