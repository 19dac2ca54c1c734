// Where dimensions go.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tessera::stablehlo {

/// Where a reshape that only adds and drops dimensions of size 1 puts each dimension of its
/// operand: -1 for those of size 1. Nothing when it does more: {1, 8} to {8, 1} is {-1, 0}, {8} to
/// {2, 4} none.
std::optional<llvm::SmallVector<int64_t>> unitReshape(llvm::ArrayRef<int64_t> from,
                                                      llvm::ArrayRef<int64_t> to);

} // namespace tessera::stablehlo
