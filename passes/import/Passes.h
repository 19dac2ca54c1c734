// import: a program as a frontend exports it becomes one function in StableHLO, sdy and comm.
#pragma once

#include "lib/target/Target.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include <memory>

namespace mlir {
class ModuleOp;
}

namespace tessera {

#define GEN_PASS_DECL
#include "passes/import/Passes.h.inc"

/// What a program is compiled for, where it does not say so itself (lib/target/Target.h).
struct ImportOptions : mlir::PassPipelineOptions<ImportOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("what kernels are compiled for"),
                             llvm::cl::init(target::kDefaultTarget)};
  Option<std::string> processors{*this, "processors",
                                 llvm::cl::desc("a processor, or several with commas between"),
                                 llvm::cl::init(target::kDefaultProcessor)};
};

/// The phase as a list of passes: --tessera-import.
void buildImportPipeline(mlir::OpPassManager &pm, const ImportOptions &options);
void registerImportPasses();

} // namespace tessera
