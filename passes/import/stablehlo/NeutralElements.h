// Constants that change nothing, of computations that combine several numbers at once.
//
//   (a, x) and (b, y) to (a b, b x + y)     1, 0:  (1 b, b 0 + y) = (b, y),  (a 1, 1 x + 0) = (a, x)
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

#include <optional>

namespace tessera::import {

/// Scalars that give the others back when they are combined with them, on either side, by `body`: as
/// many arguments of each, and as many results. None where algebra, which takes numbers to be finite,
/// knows of none.
std::optional<llvm::SmallVector<mlir::ElementsAttr>> neutralElements(mlir::Block &body);

} // namespace tessera::import
