// The codegen phase: every exec.kernel gets `grid`, `scratch_bytes` and `flops`, and the module an
// exec.image with the kernels' code for each processor of its target. How a target's code is
// generated is its own: codegen/cpu, codegen/gpu.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/TesseraDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/codegen/Passes.h.inc"

void buildCodegenPipeline(mlir::OpPassManager &pm);

// The passes of all targets and the pipeline --tessera-codegen.
void registerCodegenPasses();

} // namespace tessera
