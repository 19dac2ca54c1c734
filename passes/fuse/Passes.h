// The fuse phase: ops become kernels.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/fuse/Passes.h.inc"

void buildFusePipeline(mlir::OpPassManager &pm);
void registerFusePasses();

} // namespace tessera
