// import: a program as a frontend exports it becomes one function in StableHLO, sdy and comm.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
class ModuleOp;
}

namespace tessera {

#define GEN_PASS_DECL
#include "passes/import/Passes.h.inc"

/// The phase as a list of passes: --tessera-import.
void buildImportPipeline(mlir::OpPassManager &pm);
void registerImportPasses();

} // namespace tessera
