// The memory that an op takes, from its types.
#pragma once

#include "dialects/exec/ExecOps.h"

namespace tessera::order {

// Bytes of an op's results, but for arrays that it updates in place.
int64_t newBytesOf(mlir::Operation *op);

} // namespace tessera::order
