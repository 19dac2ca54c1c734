// What the verifiers of several op families check. Constraints are named by their numbers in the
// specification's section on the op; sizes that are not known statically agree with any.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::stablehlo {

/// An error that names the constraint: `'stablehlo.slice' op constraint C3: `.
inline mlir::InFlightDiagnostic violates(mlir::Operation *op, int constraint) {
  return op->emitOpError() << "constraint C" << constraint << ": ";
}

bool sameSize(int64_t a, int64_t b);
bool sameShape(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
/// A dimension's size, or what #stablehlo.bounds says that it is at most; else that of no size.
int64_t sizeOrBound(mlir::RankedTensorType type, int64_t dim);
/// Sizes of one rank with `type`'s that are known are no larger than its bounds.
bool withinBounds(llvm::ArrayRef<int64_t> sizes, mlir::RankedTensorType type);

/// Elements of one type, but for the parameters of quantized ones.
bool elementsAgree(mlir::Type a, mlir::Type b);
/// Whether a computation may be done in `to` on elements of type `from`.
bool isPromotable(mlir::Type from, mlir::Type to);

/// The elements of `type` are those of `like`, the operand `name`.
mlir::LogicalResult verifyElements(mlir::Operation *op, llvm::StringRef what, mlir::Type type,
                                   llvm::StringRef name, mlir::Type like, int constraint);
mlir::LogicalResult verifySameShape(mlir::Operation *op, llvm::StringRef what, mlir::Type type,
                                    llvm::StringRef name, mlir::Type like, int constraint);

/// A quantized dimension goes where `to` says, keeping its scales (-1: nowhere).
mlir::LogicalResult verifyQuantizedDim(mlir::Operation *op, mlir::Type operand, mlir::Type result,
                                       int64_t expected, int constraint);

/// Pairs of a source and a target device (C1 to C4 of collective_permute, send and recv).
mlir::LogicalResult verifyPairs(mlir::Operation *op, mlir::DenseIntElementsAttr table);

/// broadcast_in_dim, static or dynamic: C1 to C6.
mlir::LogicalResult verifyBroadcast(mlir::Operation *op, mlir::RankedTensorType from,
                                    mlir::RankedTensorType to, llvm::ArrayRef<int64_t> dims);

/// reshape, static or dynamic: C1 and C2.
mlir::LogicalResult verifyReshape(mlir::Operation *op, mlir::RankedTensorType from,
                                  mlir::RankedTensorType to);

/// `[2, ?, 4]`.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Each of `dims` is in [0, rank). -1 when all are, else the first that is not, by position.
int64_t firstOutside(llvm::ArrayRef<int64_t> dims, int64_t rank);
bool isUnique(llvm::ArrayRef<int64_t> dims);
bool isSorted(llvm::ArrayRef<int64_t> dims);

/// `dims` lie in [0, rank), by constraint `inRange`, and differ, by `unique` (0: they may repeat).
mlir::LogicalResult verifyDims(mlir::Operation *op, llvm::StringRef name,
                               llvm::ArrayRef<int64_t> dims, int64_t rank, int inRange, int unique);

/// The shape of a result is `expected`.
mlir::LogicalResult verifyResultShape(mlir::Operation *op, mlir::Type result,
                                      llvm::ArrayRef<int64_t> expected, int constraint);

/// Each dimension of a result has a size or, by #stablehlo.bounds, a bound.
mlir::LogicalResult verifySized(mlir::Operation *op, mlir::Type result);

/// The shapes of the results are those that follow from the rest of the op, which satisfies all
/// constraints that this needs.
mlir::LogicalResult verifyInferredShapes(mlir::Operation *op, int constraint);

/// A computation on scalars: `arguments` scalars in, `results` scalars out (of i1 where
/// `predicate`).
mlir::LogicalResult verifyScalarComputation(mlir::Operation *op, mlir::Region &region,
                                            llvm::StringRef name, size_t arguments, size_t results,
                                            bool predicate, int constraint);

/// A computation `(E0, .., E0, ..) -> (E0, ..)` where each Ei may stand for an element of
/// inputs[i]; its element types go to `computed`.
mlir::LogicalResult verifyCombiner(mlir::Operation *op, mlir::Region &region, llvm::StringRef name,
                                   mlir::TypeRange inputs, int constraint,
                                   llvm::SmallVectorImpl<mlir::Type> &computed);

/// The elements of each result are those that the computation returns.
mlir::LogicalResult verifyComputed(mlir::Operation *op, mlir::TypeRange results,
                                   llvm::ArrayRef<mlir::Type> computed, int constraint);

/// The values that a region returns have the types of the op's results.
mlir::LogicalResult verifyReturned(mlir::Operation *op, mlir::Region &region, llvm::StringRef name,
                                   mlir::TypeRange expected, int constraint);

/// Attributes may be as large as 64 bits allow; sizes are computed without wrapping around.
using Wide = __int128;

/// What `size` elements span that lie `dilation` apart.
inline Wide spanOf(int64_t size, Wide dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

/// `size`, or the nearest number that is none a tensor can have.
int64_t sizeFrom(Wide size);

/// The size of a dimension after dilation and padding, and the number of windows that fit.
int64_t paddedSize(int64_t size, Wide dilation, int64_t low, int64_t high);
int64_t windowCount(int64_t padded, int64_t window, int64_t dilation, int64_t stride);

} // namespace tessera::stablehlo
