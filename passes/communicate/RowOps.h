// StableHLO on rows of one dimension, and on the i32 scalars that number them, written at one place.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/Builders.h"

namespace tessera::communicate {

struct RowOps {
  mlir::OpBuilder b;
  mlir::Location loc;

  mlir::Value scalar(int64_t value);
  mlir::Value zeros(mlir::RankedTensorType type);
  mlir::Value binary(llvm::StringRef op, mlir::Value lhs, mlir::Value rhs);
  // a + b, where b is known.
  mlir::Value plus(mlir::Value a, int64_t b);
  mlir::Value isEqual(mlir::Value a, int64_t b);
  mlir::Value select(mlir::Value mask, mlir::Value onTrue, mlir::Value onFalse);

  mlir::Value rowsAt(mlir::Value value, int64_t dim, mlir::Value start, int64_t rows);
  mlir::Value withRowsAt(mlir::Value value, mlir::Value rows, int64_t dim, mlir::Value start);
  mlir::Value firstRows(mlir::Value value, int64_t dim, int64_t rows) {
    return rowsBetween(value, dim, 0, rows);
  }
  mlir::Value rowsBetween(mlir::Value value, int64_t dim, int64_t begin, int64_t end);
  // With rows of zeros behind it.
  mlir::Value padded(mlir::Value value, int64_t dim, int64_t rows);
  // `fill` (a scalar) in place of the rows whose number, counted from `start`, is `end` or more.
  mlir::Value filledFrom(mlir::Value value, int64_t dim, mlir::Value start, int64_t end,
                         mlir::Value fill);

  // `values`, after the body has been applied to them so often.
  llvm::SmallVector<mlir::Value>
  loop(int64_t trips, mlir::ValueRange values,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(RowOps &, mlir::ValueRange)> body);

private:
  mlir::Value compare(mlir::Value a, mlir::Value b, stablehlo::ComparisonDirection direction);
  llvm::SmallVector<mlir::Value> startsAt(mlir::Value value, int64_t dim, mlir::Value start);
};

} // namespace tessera::communicate
