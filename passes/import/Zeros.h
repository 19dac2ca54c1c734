// Constants of zeros.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera::import {

/// A stablehlo.constant of zeros (false, 0 + 0i) of a static shape, without elements too.
mlir::Value zeros(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType type);

} // namespace tessera::import
