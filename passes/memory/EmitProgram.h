// Writes the instructions on buffers once every array has a place.
#pragma once

#include "passes/memory/Liveness.h"

namespace tessera::memory {

// Replaces `func` by an exec.program of its name.
mlir::LogicalResult emitProgram(mlir::func::FuncOp func, Liveness &liveness);

} // namespace tessera::memory
