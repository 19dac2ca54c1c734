// What a kernel does, counted from its body as code is generated for it.
#pragma once

#include "lib/cost/KernelWork.h"
#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen {

// Of one run. Says nothing of what is wrong with a body: where no code can be generated, the work
// is what its arrays' sizes tell.
cost::KernelWork workOf(const KernelSource &kernel);
// Of an exec.fused or the exec.kernel that it becomes. `apart`: outputs that do not share the buffer of
// what they update, so that the rest of it is copied.
cost::KernelWork workOf(mlir::Operation *kernel, llvm::ArrayRef<unsigned> apart = {});

// Of the nodes of a nest over its loops' bounds, without the arrays' bytes.
cost::KernelWork workOf(const NestGraph &nest);

} // namespace tessera::codegen
