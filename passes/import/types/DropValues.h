// Takes values of some types (tokens, arrays without elements) out of what loops carry and branches
// return.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tessera::import {

using IsDropped = llvm::function_ref<bool(mlir::Type)>;
/// A value of this type to use instead of one that is dropped, made where it is used.
using Substitute =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Type type)>;

/// `op` without the operands, block arguments, results and returned values whose type is dropped.
/// Nothing may use them any more. The old operation is erased.
mlir::Operation *withoutValues(mlir::Operation *op, IsDropped isDropped);

/// Every use of a value of these types gets a substitute; loops, branches, barriers and calls of
/// foreign code lose them, and what computed nothing else is erased. The function's own arguments
/// and results stay.
void dropValues(mlir::func::FuncOp function, IsDropped isDropped, Substitute substitute);

} // namespace tessera::import
