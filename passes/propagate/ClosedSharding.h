// Annotations that leave nothing open.
#pragma once

#include "dialects/sdy/SdyAttrs.h"

namespace tessera {

inline bool isClosed(sdy::TensorShardingAttr sharding) {
  return llvm::all_of(sharding.getDimShardings(),
                      [](sdy::DimensionShardingAttr dim) { return dim.getIsClosed(); });
}

} // namespace tessera
