// What a value holds as an array.
#pragma once

#include "dialects/interfaces/OpInterfaces.h"

namespace tessera {

/// Bytes of an array of a static shape; else 0.
inline double bytesOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? static_cast<double>(byteSize(type)) : 0;
}

} // namespace tessera
