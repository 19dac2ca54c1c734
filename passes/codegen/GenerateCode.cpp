// Code by the pipeline of the module's target; see Passes.td for the IR before and after.
#include "passes/codegen/Passes.h"

#include "dialects/tessera/Marks.h"
#include "lib/target/GpuArchitectures.h"
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/gpu/Passes.h"

namespace tessera {

#define GEN_PASS_DEF_GENERATECODE
#include "passes/codegen/Passes.h.inc"

namespace {

struct GenerateCode : impl::GenerateCodeBase<GenerateCode> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    mlir::FailureOr<TargetAttr> target = ensureTarget(module);
    if (failed(target))
      return signalPassFailure();
    llvm::SmallVector<ProcessorAttr> cpus, gpus;
    for (ProcessorAttr processor : target->getProcessors())
      (target::isGpu(processor.toProcessor()) ? gpus : cpus).push_back(processor);
    bool isBoth = !cpus.empty() && !gpus.empty();
    llvm::SmallVector<mlir::OwningOpRef<exec::ImageOp>> images;
    llvm::SmallVector<OfGpu> ofGpu;
    if (!gpus.empty()) {
      mlir::OpPassManager pipeline(mlir::ModuleOp::getOperationName());
      buildCodegenGpuPipeline(pipeline);
      if (isBoth)
        setTarget(module, TargetAttr::get(&getContext(), "cuda", gpus));
      if (failed(runPipeline(pipeline, module)))
        return signalPassFailure();
    }
    if (isBoth) {
      for (auto kernel : module.getOps<exec::KernelOp>())
        ofGpu.push_back({int64_t(kernel.getScratchBytes().value_or(0)), kernel.getProductAttr()});
      takeImages(images);
      setTarget(module, TargetAttr::get(&getContext(), "cpu", cpus));
    }
    if (!cpus.empty()) {
      mlir::OpPassManager pipeline(mlir::ModuleOp::getOperationName());
      buildCodegenCpuPipeline(pipeline);
      if (failed(runPipeline(pipeline, module)))
        return signalPassFailure();
    }
    if (isBoth)
      for (auto [kernel, needs] : llvm::zip(module.getOps<exec::KernelOp>(), ofGpu)) {
        kernel.setScratchBytes(
            std::max<int64_t>(kernel.getScratchBytes().value_or(0), needs.scratch));
        kernel.setProductAttr(needs.product);
      }
    for (auto &image : images)
      module.push_back(image.release());
    setTarget(module, *target);
  }

private:
  // What a kernel has of the GPU's code beside the image, which code for the CPU knows nothing of.
  struct OfGpu {
    int64_t scratch;
    mlir::DenseI64ArrayAttr product;
  };

  // Of a GPU, with grids of their own beside those that kernels get for the CPU.
  void takeImages(llvm::SmallVectorImpl<mlir::OwningOpRef<exec::ImageOp>> &images) {
    llvm::SmallVector<int64_t> grids;
    for (auto kernel : getOperation().getOps<exec::KernelOp>())
      grids.push_back(kernel.getGrid().value_or(1));
    for (auto image : llvm::make_early_inc_range(getOperation().getOps<exec::ImageOp>())) {
      if (!image.getGrids())
        image.setGrids(grids);
      image->remove();
      images.emplace_back(image);
    }
  }
};

} // namespace
} // namespace tessera
