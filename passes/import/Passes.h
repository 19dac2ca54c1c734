// import: a program as a frontend exports it becomes one function in StableHLO, sdy and comm.
#ifndef TESSERA_PASSES_IMPORT_PASSES_H
#define TESSERA_PASSES_IMPORT_PASSES_H

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

#endif
