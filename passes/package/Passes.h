// The package phase: the program as the runtime reads it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/package/Passes.h.inc"

void buildPackagePipeline(mlir::OpPassManager &pm);
void registerPackagePasses();

} // namespace tessera
