// The tensor types of values.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace tessera {

/// The type of a value that is a ranked tensor.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// The sizes of a value's dimensions; none for what is not a ranked tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type ? type.getShape() : llvm::ArrayRef<int64_t>();
}

/// Whether all integers from 0 below `count` have a value of their own in a tensor's element type.
inline bool countsExactly(mlir::Type element, int64_t count) {
  unsigned bits = 0;
  if (auto real = llvm::dyn_cast<mlir::FloatType>(element))
    bits = real.getFPMantissaWidth();
  else if (auto integer = llvm::dyn_cast<mlir::IntegerType>(element))
    bits = integer.getWidth() - (integer.isUnsigned() ? 0 : 1);
  return count <= 1 || bits >= 63 || count <= int64_t{1} << bits;
}

} // namespace tessera
