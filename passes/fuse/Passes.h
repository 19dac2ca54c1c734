// The fuse phase: ops become kernels.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/fuse/Passes.h.inc"

void buildFusePipeline(mlir::OpPassManager &pm);
// Of which: all that comes before it is decided what is computed again, and all that comes behind.
void buildBeforeRematerialize(mlir::OpPassManager &pm);
void buildAfterRematerialize(mlir::OpPassManager &pm);
void registerFusePasses();

} // namespace tessera
