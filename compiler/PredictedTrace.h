// A predicted step as a timeline, in the form of `tessera run --trace`.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tessera {

// A JSON array in Chrome's trace format; empty where the module has no device program yet. Of the
// program that takes longest: a row of what its devices do, all alike, and one of each of their links.
std::string predictedTrace(mlir::ModuleOp module);

} // namespace tessera
