// Products of groups as one kernel each.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Puts each product whose rows or contracted elements fall into groups into an exec.fused of its own,
// with what selects them.
void formGroupedProducts(mlir::ModuleOp module);

} // namespace tessera::fuse
