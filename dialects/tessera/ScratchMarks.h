// Marks.h, of what kernels need beside arrays.
#pragma once

#include "mlir/IR/Operation.h"

namespace tessera {

// Of an exec.fused: bytes that its code will need beside arrays while it runs; 0 where nothing is said.
int64_t getScratchBytes(mlir::Operation *fused);
void setScratchBytes(mlir::Operation *fused, int64_t bytes);

} // namespace tessera
