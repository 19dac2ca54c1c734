// A program's tasks in the order that the phase order chooses for them.
#pragma once

#include "passes/fuse/RematTrial.h"

namespace tessera::fuse {

// As `tryKernels`, of a module whose schedule is the one that it is measured with: what lives at the peak of
// its tasks is what lives at the program's. Bodies of loops that are rotated keep their order.
mlir::FailureOr<RematTrial> tryInOrder(mlir::ModuleOp module, codegen::KernelScratch &scratch);

} // namespace tessera::fuse
