// A kernel's values as a graph, with what builds it: the kernel's inputs are its first buffers.
#pragma once

#include "passes/codegen/kernel/GraphBuilder.h"
#include "passes/codegen/kernel/KernelSource.h"

namespace tessera::codegen {

struct KernelGraph {
  KernelGraph(const KernelSource &kernel, const SplitTable &splits);
  Graph graph;
  GraphBuilder builder;
};

} // namespace tessera::codegen
