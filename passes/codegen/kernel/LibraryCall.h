// Kernels that no code is generated for: a function that the runtime has computes them.
#pragma once

#include "dialects/exec/ExecOps.h"

namespace tessera::codegen {

// The operation of a kernel's body that says so; null when there is none.
LibraryCallOpInterface libraryOperation(mlir::Block &body);

// Names the function in the kernel, with its grid, scratch and work. Fails, with a diagnostic, on
// what no function computes.
mlir::LogicalResult callLibrary(exec::KernelOp kernel, LibraryCallOpInterface op);

} // namespace tessera::codegen
