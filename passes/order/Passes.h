// The order phase: one total order, with collectives running beside compute.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/order/Passes.h.inc"

void buildOrderPipeline(mlir::OpPassManager &pm);
void registerOrderPasses();

} // namespace tessera
