// The reshard phase: operands and results agree with each op's sharding rule; all else is explicit
// sdy.reshard.
#pragma once

#include "dialects/sdy/SdyOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/reshard/Passes.h.inc"

void buildReshardPipeline(mlir::OpPassManager &pm);

// The passes and the pipeline --tessera-reshard.
void registerReshardPasses();

} // namespace tessera
