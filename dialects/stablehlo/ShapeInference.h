// The shapes of results from those of operands, and from operands that are constant.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"

namespace tessera::stablehlo {

using Shape = llvm::SmallVector<int64_t>;

/// The integers of a constant tensor, in row-major order.
std::optional<Shape> constantIntegers(mlir::Value value);

/// What the operands say about the shapes of the results: kDynamic where they don't. Empty for an
/// operation whose results they say nothing about. Operands are taken to satisfy the
/// specification's constraints on ranks and numbers of attributes.
llvm::SmallVector<Shape> inferShapes(mlir::Operation *op);

// What each kind of operation does to shapes; kDynamic is an unknown size.

/// What operands of one shape know together; those of rank 0 are let through among others.
Shape mergedShape(mlir::ValueRange operands);

/// A shape that an operand holds, as long as `rank`.
Shape valuesOf(mlir::Value value, size_t rank);

Shape without(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> dims);

Shape paddedShape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, llvm::ArrayRef<int64_t> interior);
Shape slicedShape(llvm::ArrayRef<int64_t> start, llvm::ArrayRef<int64_t> limit,
                  llvm::ArrayRef<int64_t> strides);
Shape gatheredShape(llvm::ArrayRef<int64_t> indices, GatherDimensionNumbersAttr dims,
                    llvm::ArrayRef<int64_t> sliceSizes);

/// How windows move over an operand: absent strides and dilations are 1, absent padding is 0.
struct Windows {
  std::optional<llvm::ArrayRef<int64_t>> strides, baseDilations, dilations;
  std::optional<Shape> padding; // low and high of each dimension; nothing: unknown
};
Shape paddingOf(std::optional<mlir::DenseIntElementsAttr> padding, size_t dims);

/// The number of windows along each dimension.
Shape windowShape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> sizes,
                  const Windows &windows);
Shape convolvedShape(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs,
                     ConvDimensionNumbersAttr dims, int64_t batchGroups, const Windows &windows);

} // namespace tessera::stablehlo
