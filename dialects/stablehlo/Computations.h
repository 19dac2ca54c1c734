// Computations on elements: the regions of map, reduce and the like.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"

namespace tessera::stablehlo {

/// Whether a computation on scalars is made of elementwise operations on its own values, so that it
/// can as well be applied to arrays.
bool isElementwise(mlir::Block &computation);

/// What an elementwise computation returns with arrays of one static shape in place of its scalars.
llvm::SmallVector<mlir::Value> appliedToArrays(mlir::OpBuilder &b, mlir::Block &computation,
                                               mlir::ValueRange arrays);

} // namespace tessera::stablehlo
