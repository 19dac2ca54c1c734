// Which dimension of a product's operands and result is which, and products of parts of them.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"

namespace tessera::communicate {

// What becomes of a dimension of one operand.
struct OperandDim {
  enum Role { Batch, Free, Contracted } role;
  int64_t other = -1;  // Batch, Contracted: the dimension of the other operand
  int64_t result = -1; // Batch, Free: the dimension of the result
};

OperandDim operandDim(stablehlo::DotGeneralOp dot, unsigned operand, int64_t dim);

// Where a dimension of the result comes from: -1 where that operand does not have it.
struct ResultDim {
  int64_t lhs = -1, rhs = -1;
};

ResultDim resultDim(stablehlo::DotGeneralOp dot, int64_t dim);

// The same product of other operands, in this element type.
mlir::Value productOf(mlir::OpBuilder &b, stablehlo::DotGeneralOp dot, mlir::Value lhs,
                      mlir::Value rhs, mlir::Type element);

} // namespace tessera::communicate
