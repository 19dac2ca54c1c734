// Marks.h, of targets whose kernels are a GPU's.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

bool isForGpu(mlir::ModuleOp module);

} // namespace tessera
