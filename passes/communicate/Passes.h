// The phase *communicate*: fewer, smaller and earlier collectives, by local rewrites.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace tessera {

#define GEN_PASS_DECL
#include "passes/communicate/Passes.h.inc"

void buildCommunicatePipeline(mlir::OpPassManager &pm);
void registerCommunicatePasses(); // and the pipeline tessera-communicate

} // namespace tessera
