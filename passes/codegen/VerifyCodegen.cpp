// What the codegen phase leaves: each exec.kernel with `grid`, `scratch_bytes` and `flops`; their
// code in an exec.image for each processor of the target.
#include "passes/codegen/Passes.h"

#include "dialects/tessera/KnownAttributes.h"
#include "dialects/tessera/Marks.h"
#include "lib/target/GpuArchitectures.h"

namespace tessera {

#define GEN_PASS_DEF_VERIFYCODEGEN
#include "passes/codegen/Passes.h.inc"

namespace {

// One for each processor, and one more where machine code is wanted beside the PTX.
static size_t imagesFor(TargetAttr target) {
  size_t images = target.getProcessors().size();
  for (ProcessorAttr processor : target.getProcessors())
    images += llvm::is_contained(processor.toProcessor().features, target::kCubin);
  return images;
}

struct VerifyCodegenPass : impl::VerifyCodegenBase<VerifyCodegenPass> {
  void runOnOperation() override {
    if (failed(verifyAttributes(getOperation())))
      return signalPassFailure();
    mlir::ModuleOp module = getOperation();
    for (auto program : module.getOps<exec::ProgramOp>())
      if (failed(program.verify()))
        return signalPassFailure();
    for (exec::KernelOp op : module.getOps<exec::KernelOp>())
      if (!op.getGrid() || *op.getGrid() < 1 || !op.getScratchBytes() || !op.getFlops()) {
        op.emitError("kernel '") << op.getSymName()
                                 << "' has no native code: grid, scratch_bytes and flops are "
                                    "missing; run --tessera-codegen";
        return signalPassFailure();
      }
    TargetAttr target = getTarget(module);
    size_t images = llvm::range_size(module.getOps<exec::ImageOp>());
    if (!target || images != imagesFor(target)) {
      module.emitError("the module has no exec.image for each processor of its target; run "
                       "--tessera-codegen");
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace tessera
