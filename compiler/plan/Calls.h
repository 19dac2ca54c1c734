// Functions that are called from several places: a plan may have their values lie otherwise in each, but an
// annotation inside of a function is one for all of its calls.
//
//   func @set(..)  called from a loop's body twice   ->   func @set(..), func @set_0(..), one call each
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tessera::planning {

// Of a function, its name and those of its copies.
using SeparateCalls = std::vector<std::vector<std::string>>;

// Gives each call of a private function a copy of its own, as long as these are not too many. Functions that
// something else than calls refers to stay as they are, and so do those that call themselves.
SeparateCalls separateCalls(mlir::ModuleOp module);

// Where copies are alike after all, they are one again.
void joinAlike(mlir::ModuleOp module, const SeparateCalls &separate);

} // namespace tessera::planning
