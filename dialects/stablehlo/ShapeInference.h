// The shapes of results from those of operands, and from operands that are constant.
#ifndef TESSERA_DIALECTS_STABLEHLO_SHAPEINFERENCE_H
#define TESSERA_DIALECTS_STABLEHLO_SHAPEINFERENCE_H

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::stablehlo {

using Shape = llvm::SmallVector<int64_t>;

/// The integers of a constant tensor, in row-major order.
std::optional<Shape> constantIntegers(mlir::Value value);

/// What the operands say about the shapes of the results: kDynamic where they don't. Empty for an
/// operation whose results they say nothing about. Operands are taken to satisfy the
/// specification's constraints on ranks and numbers of attributes.
llvm::SmallVector<Shape> inferShapes(mlir::Operation *op);

} // namespace tessera::stablehlo

#endif
