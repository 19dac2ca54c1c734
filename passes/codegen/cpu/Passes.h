// The codegen phase for CPUs: every exec.kernel gets `grid`, `scratch_bytes` and `flops`, and the
// module the attributes `exec.code` (the shared object's bytes, a dense resource of i8),
// `exec.target_cpu` and `exec.target_features`. What `exec.target_cpu` says before is
// what code is generated for: `native` or a processor that LLVM knows.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/codegen/cpu/Passes.h.inc"

void buildCodegenCpuPipeline(mlir::OpPassManager &pm);

// The passes and the pipeline --tessera-codegen.
void registerCodegenCpuPasses();

} // namespace tessera
