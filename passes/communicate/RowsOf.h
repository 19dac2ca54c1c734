// Rows of a value, computed from rows of what the value is computed from.
//
//   %p = dot_general %x, %w      %s = add %p, %q      rows [a, b) of %s:
//   rows [a, b) of %x times %w, plus rows [a, b) of %q
#pragma once

#include "passes/communicate/RowOps.h"

namespace tessera::communicate {

class RowsOf {
public:
  // Follows ops of `block` that nobody else reads, down to values that stay: those are read row by
  // row. Rows of `dim` may be asked for up to `total`. With `isReplaced` the value itself may have more
  // readers: the rows are all that there is of it afterwards.
  RowsOf(mlir::Value value, int64_t dim, int64_t total, mlir::Block *block, bool isReplaced = false)
      : value(value), dim(dim), total(total), block(block), isReplaced(isReplaced) {
    follow(value, dim);
  }

  int64_t along() const { return dim; }
  // The products on the way whose rows are rows of the value.
  llvm::ArrayRef<stablehlo::DotGeneralOp> products() const { return dots; }
  // What is read row by row, with the dimension.
  llvm::ArrayRef<std::pair<mlir::Value, int64_t>> sources() const { return leaves; }
  // Bytes of the values that have to be copied with room at their end.
  double paddedBytes() const;

  // Before `at`: makes that room.
  void prepare(RowOps &ops);
  mlir::Value at(RowOps &ops, mlir::Value start, int64_t rows) const {
    return build(ops, value, dim, start, rows);
  }

private:
  void follow(mlir::Value of, int64_t along);
  bool isFollowed(mlir::Value of, int64_t along) const;
  mlir::Value build(RowOps &ops, mlir::Value of, int64_t along, mlir::Value start,
                    int64_t rows) const;

  mlir::Value value;
  int64_t dim, total;
  mlir::Block *block;
  bool isReplaced;
  llvm::SmallVector<stablehlo::DotGeneralOp, 2> dots;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 4> leaves;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> paddedLeaves;
};

} // namespace tessera::communicate
