// select_and_scatter of rows of which some don't exist.
#pragma once

#include "passes/localize/WindowRows.h"

namespace tessera::localize {

// The local form of `op` on images and sources that have rows beyond the ends: `imageThere` and
// `sourceThere` say which elements exist. Whatever the types and the computations are.
mlir::Value scatterSelected(Localizer &l, stablehlo::SelectAndScatterOp op, mlir::Value image,
                            mlir::Value imageThere, mlir::Value source, mlir::Value sourceThere,
                            mlir::Value init, llvm::ArrayRef<WindowDim> windows);

} // namespace tessera::localize
