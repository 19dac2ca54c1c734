// The memory phase: from tensors to buffers.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/memory/Passes.h.inc"

void buildMemoryPipeline(mlir::OpPassManager &pm);
void registerMemoryPasses();

} // namespace tessera
