// Code generation for CPUs: kernels to shared objects, by LLVM and lld in this process.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/TesseraDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tessera {

#define GEN_PASS_DECL
#include "passes/codegen/cpu/Passes.h.inc"

// What codegen runs for targets whose kernels are a CPU's.
void buildCodegenCpuPipeline(mlir::OpPassManager &pm);
void registerCodegenCpuPasses();

} // namespace tessera
