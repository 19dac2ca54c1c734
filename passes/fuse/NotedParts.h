// What is noted of a sum that is made in parts.
#pragma once

#include "mlir/IR/Operation.h"

namespace tessera::fuse {

// The parts are the op: what is noted of that is noted of them,
// but for what they say themselves.
inline void noteOf(mlir::Operation *op, mlir::Operation *parts) {
  for (mlir::NamedAttribute attr : op->getDiscardableAttrs())
    if (!parts->hasAttr(attr.getName()))
      parts->setAttr(attr.getName(), attr.getValue());
}

} // namespace tessera::fuse
