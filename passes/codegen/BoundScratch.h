// Smaller pieces for kernels whose scratch has no room.
#pragma once

#include "passes/codegen/KernelScratch.h"

namespace tessera {

// Of a module with buffers (the phase memory leaves when arrays are needed), where its schedule asks for
// it: kernels get `most_scratch`, as small as it takes for what is laid out, and their `scratch_bytes`.
mlir::LogicalResult boundScratch(mlir::ModuleOp module, codegen::KernelScratch &scratch);

} // namespace tessera
