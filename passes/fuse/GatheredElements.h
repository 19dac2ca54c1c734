// Which elements a gather takes that takes single ones, of each position of all other dimensions.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

#include <optional>

namespace tessera::fuse {

struct GatheredElements {
  llvm::SmallVector<int64_t> taken;      // dimensions along which positions are given
  llvm::SmallVector<int64_t> resultDims; // of each dimension of the operand the result's; -1: taken
};

std::optional<GatheredElements> gatheredElements(stablehlo::GatherOp gather);

} // namespace tessera::fuse
