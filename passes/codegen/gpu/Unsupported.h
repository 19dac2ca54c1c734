// What kernels for GPUs can't compute yet: each line here has one in docs/limits.md.
#pragma once

#include "passes/codegen/kernel/Graph.h"
#include "passes/codegen/kernel/KernelSource.h"

namespace tessera::codegen::gpu {

// Emits an error at the operation of the kernel that one of the nodes came from that `nodes` are
// computed from. True: there is such a one.
bool refusesNode(const KernelSource &kernel, llvm::ArrayRef<Node *> nodes);

} // namespace tessera::codegen::gpu
