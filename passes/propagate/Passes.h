// The propagate phase: every value gets a sharding.
#pragma once

#include "dialects/sdy/SdyOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/propagate/Passes.h.inc"

void buildPropagatePipeline(mlir::OpPassManager &pm);
void registerPropagatePasses();

} // namespace tessera
