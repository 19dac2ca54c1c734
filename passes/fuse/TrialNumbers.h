// Ops of a module by numbers, so that they are found again in what becomes of a copy of it.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace tessera::fuse {

// In the order of a walk: a clone of a module has the same numbers.
std::vector<mlir::Operation *> numberedOps(mlir::ModuleOp module);

// Puts its number on each op of a copy. No other pass knows them.
void numberOps(mlir::ModuleOp copy);

// -1: it is new.
int numberOf(mlir::Operation *op);

// Of the ops that a kernel computes, ascending; or of the op.
std::vector<int> numbersOf(mlir::Operation *op);

} // namespace tessera::fuse
