// Sums as ops, and the zeros that they start from.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera::stablehlo {

/// A constant of zeros (false, 0 + 0i) of a static shape, without elements too.
mlir::Value zeros(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType type);

/// The same of rank 0.
mlir::Value zero(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element);

/// Whether a value is a constant of zeros, of either sign, also one that is broadcast.
bool isZero(mlir::Value value);

/// Gives the region of a reduction a block that adds its two arguments.
void fillWithSum(mlir::OpBuilder &b, mlir::Location loc, mlir::Region &body, mlir::Type element);

/// The sum of `value` over `dims`, which the result is without.
mlir::Value sumOver(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                    llvm::ArrayRef<int64_t> dims);

} // namespace tessera::stablehlo
