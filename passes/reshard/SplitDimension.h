// Builds global ops, with their shardings, on values one of whose dimensions is seen as several.
//
//   tensor<5x24xf32> [{"y"}, {"x"}], split at dimension 1 into {4, 6} on {"x"}, {}:
//   tensor<5x4x6xf32> [{"y"}, {"x"}, {}]
//
// Parts of the split dimension are numbered from 0; dimensions around it stay as they are in all
// that is built. `move` alone moves anything: all else is local as long as it works along parts
// that are not sharded.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "passes/reshard/ValueShardings.h"

namespace tessera {

class SplitDimension {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using Parts = llvm::ArrayRef<int64_t>;
  using PartAxes = llvm::ArrayRef<sharding::AxisRefs>;
  // Whether an element (`a` of each sorted value) comes before another (`b`).
  using Before =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange a, mlir::ValueRange b)>;

  // `like` is a value to be split at `dim`; all is built before `op`. `shardings` is kept by
  // reference.
  SplitDimension(const ValueShardings &shardings, mlir::Operation *op, mlir::Value like,
                 int64_t dim);

  mlir::OpBuilder b;
  mlir::Location loc;

  // --- Layout ---
  mlir::Value reshaped(mlir::Value value, Parts sizes, PartAxes axes);
  mlir::Value move(mlir::Value value, PartAxes axes);
  mlir::Value transposed(mlir::Value value, llvm::ArrayRef<int64_t> order);
  mlir::Value sliced(mlir::Value value, int64_t part, int64_t begin, int64_t end);
  // With zeros, or `fill` (a scalar), before and after.
  mlir::Value padded(mlir::Value value, int64_t part, int64_t low, int64_t high,
                     mlir::Value fill = {});
  mlir::Value joined(mlir::ValueRange values, int64_t part);
  // Repeated along a new part at the end of those that the value has.
  mlir::Value repeated(mlir::Value value, int64_t parts, int64_t size);

  // --- Integers ---
  // The place of each element along a part, under a value's shape and sharding.
  mlir::Value positions(mlir::Value like, int64_t part, mlir::Type integer);
  mlir::Value positions(Parts sizes, PartAxes axes, int64_t part, mlir::Type integer);
  mlir::Value number(mlir::Value like, int64_t value);
  mlir::Value converted(mlir::Value value, mlir::Type element);
  mlir::Value compare(mlir::Value a, mlir::Value b, stablehlo::ComparisonDirection direction);
  mlir::Value select(mlir::Value mask, mlir::Value onTrue, mlir::Value onFalse);
  template <typename Op> mlir::Value binary(mlir::Value a, mlir::Value b_) {
    return annotated(Op::create(b, loc, a, b_), a);
  }
  template <typename Op> mlir::Value binary(mlir::Value a, int64_t value) {
    return binary<Op>(a, number(a, value));
  }
  mlir::Value summed(mlir::Value value, int64_t part);
  // Of the elements before each one along a part.
  mlir::Value summedBefore(mlir::Value value, int64_t part);

  // --- Sorting ---
  Values sorted(mlir::ValueRange values, int64_t part, Before before);

  // What `before` of a sort says of its own operands, the first of `a` and `b`.
  static mlir::Value comesBefore(mlir::OpBuilder &b, stablehlo::SortOp sort, mlir::ValueRange a,
                                 mlir::ValueRange b_);

private:
  mlir::Value annotated(mlir::Value value, mlir::Value like);
  mlir::Value annotated(mlir::Value value, const sharding::TensorSharding &sharding);
  llvm::SmallVector<int64_t> shape(Parts sizes) const;
  sharding::TensorSharding sharding(PartAxes axes) const;
  mlir::Value sumOver(mlir::Value value, int64_t dimension);

  const ValueShardings &valueShardings;
  llvm::SmallVector<int64_t> outer, inner;
  llvm::SmallVector<sharding::DimSharding> outerAxes, innerAxes;
};

} // namespace tessera
