// Carries out what is computed again within blocks.
#pragma once

#include "passes/fuse/RematTrial.h"

namespace tessera::fuse {

// `module` is the one that was tried, or a clone of it. What computes a value that is dropped is
// cloned, up to values in memory, and put before the first of the tasks that read the copy; the ops
// of a block are put into the order of their tasks.
void copyValues(mlir::ModuleOp module, const RematTrial &trial,
                llvm::ArrayRef<cost::Recompute> values);

// Puts the ops of a block into the order of their keys, operands before what reads them; ops
// without a key go before their first reader.
void sortBlock(mlir::Block &block,
               const llvm::DenseMap<mlir::Operation *, std::pair<int, int>> &keys);

} // namespace tessera::fuse
