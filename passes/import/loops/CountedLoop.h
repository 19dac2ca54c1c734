// Loops that import writes: over a counter from 0.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"

namespace tessera::import {

/// A stablehlo.constant of type tensor<i64>.
mlir::Value scalar(mlir::OpBuilder &b, mlir::Location loc, int64_t number);

mlir::Value reshape(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                    llvm::ArrayRef<int64_t> shape);

/// A while that carries a counter, tensor<i64>, before `values`, and runs as long as the counter is
/// below `trips`. Its body is a block without operations; the counter is that block's to move on.
stablehlo::WhileOp countedLoop(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange values,
                               int64_t trips);

} // namespace tessera::import
