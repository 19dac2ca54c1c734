// Arguments that lend their memory to outputs (tf.aliasing_output).
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::memory {

// For each output the argument whose memory it takes; null: none.
llvm::SmallVector<mlir::BlockArgument> aliasedArgumentsOf(mlir::func::FuncOp func);

} // namespace tessera::memory
