// Products and sums written by letters.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"

namespace tessera::import {

/// What `op` computes from one or two operands by `config` ("ab,bc->ac"), as sums, a dot_general
/// and a transpose. Null where a letter occurs twice in an operand or the config doesn't fit.
mlir::Value fromEinsum(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands,
                       llvm::StringRef config);

} // namespace tessera::import
