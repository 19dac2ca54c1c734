// Writes what torch-mlir computes with sizes in the dialects arith, tensor and shape as StableHLO
// on tensors of i64, which refine-shapes folds.
//
//   %c1 = arith.constant 1 : index
//   %n = tensor.dim %x, %c1 : tensor<4x?xf32>
//   %s = tensor.from_elements %n, %c1 : tensor<2xindex>
// becomes
//   %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4x?xf32>) -> tensor<i32>
//   %n = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
//   %s = stablehlo.concatenate (%n and 1, reshaped), dim = 0 : tensor<2xi64>
//
// A constraint (shape.cstr_broadcastable) becomes a shape assertion, and what it guards
// (shape.assuming) runs anyway. Constants of arith are constants, wherever they are used.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// Rewrites a function's operations of arith, tensor and shape; an error at one that is something
/// else.
llvm::LogicalResult readShapeArithmetic(mlir::func::FuncOp function);

} // namespace tessera
