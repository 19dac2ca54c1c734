// Code by the pipeline of the module's target; see Passes.td for the IR before and after.
#include "passes/codegen/Passes.h"

#include "dialects/tessera/Marks.h"
#include "lib/target/Target.h"
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/gpu/Passes.h"

namespace tessera {

#define GEN_PASS_DEF_GENERATECODE
#include "passes/codegen/Passes.h.inc"

static void buildTargetPipeline(target::Generator generator, mlir::OpPassManager &pm) {
  switch (generator) {
  case target::Generator::Cpu:
    return buildCodegenCpuPipeline(pm);
  case target::Generator::Gpu:
    return buildCodegenGpuPipeline(pm);
  }
}

namespace {

struct GenerateCode : impl::GenerateCodeBase<GenerateCode> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    mlir::FailureOr<TargetAttr> target = ensureTarget(module);
    if (failed(target))
      return signalPassFailure();
    llvm::Expected<target::Target> known = target::find(target->getName());
    if (!known) {
      module.emitError(llvm::toString(known.takeError()));
      return signalPassFailure();
    }
    mlir::OpPassManager pipeline(mlir::ModuleOp::getOperationName());
    buildTargetPipeline(known->generator, pipeline);
    if (failed(runPipeline(pipeline, module)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tessera
