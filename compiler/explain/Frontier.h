// How much longer a step takes where a device holds less, as plain data.
#pragma once

#include "compiler/explanation/Explanation.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {

// Of a module as the phase communicate leaves it, which this changes: what compiling with bounds
// between what it takes and the least gives. Empty where that fails.
std::vector<explain::LessMemory> frontierOf(mlir::ModuleOp module);

} // namespace tessera
