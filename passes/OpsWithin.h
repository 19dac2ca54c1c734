// The ops of one kind, found before any of them is changed: a walk must not go over what is rewritten
// meanwhile.
#pragma once

#include "llvm/ADT/SmallVector.h"

namespace tessera {

// In the order of a walk of `root`, a block or an op.
template <typename Op, typename Root> llvm::SmallVector<Op> opsWithin(Root &&root) {
  llvm::SmallVector<Op> ops;
  root.walk([&](Op op) { ops.push_back(op); });
  return ops;
}

} // namespace tessera
