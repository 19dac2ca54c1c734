// The plan phase, which runs where it is asked for: shardings that a search finds, as annotations.
#pragma once

#include "dialects/sdy/SdyOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/plan/Passes.h.inc"

void registerPlanPasses();

} // namespace tessera
