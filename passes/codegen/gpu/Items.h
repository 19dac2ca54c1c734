// Points of a nest by number: what a block, a thread, or one access of a thread has of them.
#pragma once

#include "passes/codegen/cpu/Emitter.h"

namespace tessera::codegen::gpu {

// Items of `lanes` points side by side in the innermost group.
int64_t itemsOf(const Graph &graph, llvm::ArrayRef<LoopGroup> groups, int64_t lanes);

// Opens two levels in which the loops are at the item of that number, counted like digits: the inner one
// is of the innermost group, at `lanes` points.
void openItem(Emitter &e, llvm::ArrayRef<LoopGroup> groups, Value number, int64_t lanes);
void closeItem(Emitter &e);

// Whether what the nodes load lies side by side along a loop, or is the same for all of it: the bytes
// of the widest such element (1 where nothing is loaded). Empty where some of it lies apart.
std::optional<int64_t> widestRun(llvm::ArrayRef<Node *> nodes, llvm::ArrayRef<unsigned> innermost);

} // namespace tessera::codegen::gpu
