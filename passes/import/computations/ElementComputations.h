// Computations on elements: the regions of reduce, sort, scatter and the like.
#pragma once

#include "mlir/IR/Operation.h"

namespace tessera::import {

/// A loop, or what makes an array of several elements: kernels, which run a computation for many
/// elements at once, compute with single numbers only.
bool exceedsElements(mlir::Operation *op);

} // namespace tessera::import
