// Code generation for NVIDIA's GPUs: kernels to PTX, by LLVM in this process.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/TesseraDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/codegen/gpu/Passes.h.inc"

// What codegen runs for targets whose kernels are a GPU's.
void buildCodegenGpuPipeline(mlir::OpPassManager &pm);
void registerCodegenGpuPasses();

} // namespace tessera
