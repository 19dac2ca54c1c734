// Values in other element types.
#pragma once

#include "mlir/IR/Builders.h"

namespace tessera::stablehlo {

/// A tensor's elements as `element`: itself where they are.
mlir::Value converted(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      mlir::Type element);

} // namespace tessera::stablehlo
