// What one run of an op costs, from its types.
#pragma once

#include "dialects/exec/ExecOps.h"

namespace tessera::order {

// Floating-point operations of the contractions inside; elementwise work counts one an element and
// op.
double flopsOf(mlir::Region &body);

// Bytes that the kernel reads and writes.
double bytesOf(exec::FusedOp fused);

// Bytes of an op's results, but for arrays that it updates in place.
int64_t newBytesOf(mlir::Operation *op);

} // namespace tessera::order
