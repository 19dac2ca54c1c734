// What one nest of a kernel does, counted from the nodes over its loops' bounds.
#pragma once

#include "lib/cost/KernelWork.h"
#include "passes/codegen/kernel/AttentionLoops.h"
#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen {

// How it writes its outputs: a few lines here and there, or tiles of a product.
struct NestWrites {
  bool strips = false, blocks = false;
};

// Adds what it does to `work`, and what it reads to `arrays`, by argument of the kernel.
NestWrites countNest(const NestGraph &nest, cost::KernelWork &work,
                     llvm::MutableArrayRef<cost::Touched> arrays);
// Of attention, without its arrays.
void countAttention(const NestGraph &nest, const AttentionLoops &attention, cost::KernelWork &work);

} // namespace tessera::codegen
