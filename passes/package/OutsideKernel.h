// What a program says of a kernel from outside (docs/outside-kernels.md).
#pragma once

#include "dialects/exec/ExecOps.h"
#include "include/tessera/program.pb.h"

namespace tessera {

// Its name, its attributes as bytes, and the types and shapes of its arrays, whose sizes `to` has
// already. Nothing of any other kernel.
mlir::LogicalResult writeOutside(exec::KernelOp from, program::Kernel &to);

} // namespace tessera
