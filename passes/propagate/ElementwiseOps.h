// Which ops compute each element of their result from the elements at the same place.
#pragma once

#include "mlir/IR/Operation.h"

namespace tessera {

// Those that MLIR calls so, and those that differ only in a scalar operand or in types.
bool isElementwise(mlir::Operation *op);

} // namespace tessera
