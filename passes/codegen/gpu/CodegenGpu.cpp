// Kernels to PTX, for the architectures of the module's target. Passes.td shows an example.
#include "passes/codegen/gpu/Passes.h"

#include "dialects/tessera/Marks.h"
#include "mlir/IR/Builders.h"
#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/gpu/PtxCode.h"
#include "passes/codegen/kernel/KernelImage.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/codegen/kernel/LibraryCall.h"

namespace tessera {

#define GEN_PASS_DEF_CODEGENGPU
#include "passes/codegen/gpu/Passes.h.inc"

namespace {

struct Kernels {
  llvm::SmallVector<exec::KernelOp> ops;
  std::vector<codegen::KernelSource> sources;
  std::vector<codegen::gpu::Launch> launches;
};

struct CodegenGpuPass : impl::CodegenGpuBase<CodegenGpuPass> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    TargetAttr target = getTarget(module);
    if (!target) {
      module.emitError("has no tessera.target: run --tessera-set-target=\"target=cuda\"");
      return signalPassFailure();
    }
    Kernels kernels;
    if (failed(collect(kernels)))
      return signalPassFailure();
    for (auto old : llvm::make_early_inc_range(module.getOps<exec::ImageOp>()))
      old.erase();
    for (ProcessorAttr architecture : target.getProcessors())
      if (failed(addImage(target, architecture, kernels)))
        return signalPassFailure();
    mlir::Builder b(&getContext());
    for (auto [op, launch] : llvm::zip(kernels.ops, kernels.launches)) {
      op.setGrid(launch.blocks);
      op.setScratchBytes(0);
      op.setFlopsAttr(b.getF64FloatAttr(codegen::workOf(op).flops));
    }
  }

private:
  mlir::LogicalResult collect(Kernels &kernels) {
    for (auto op : getOperation().getOps<exec::KernelOp>()) {
      if (LibraryCallOpInterface called = codegen::libraryOperation(*op.getBlock()))
        return called->emitError("'")
               << called->getName() << "' has no code for --target=cuda yet (docs/limits.md)";
      kernels.ops.push_back(op);
      kernels.sources.push_back(codegen::sourceOf(op));
    }
    kernels.launches.resize(kernels.ops.size());
    return mlir::success();
  }

  mlir::LogicalResult addImage(TargetAttr target, ProcessorAttr architecture, Kernels &kernels) {
    mlir::ModuleOp module = getOperation();
    codegen::gpu::PtxCode ptx(architecture.toProcessor());
    llvm::LLVMContext context;
    llvm::Module code("kernels", context);
    ptx.prepare(code);
    bool ok = true;
    for (auto [source, launch] : llvm::zip(kernels.sources, kernels.launches))
      ok &= codegen::gpu::emitKernel(source, code, launch);
    if (!ok)
      return mlir::failure();
    llvm::SmallVector<char, 0> text;
    if (std::string problem = ptx.compile(code, text); !problem.empty())
      return module.emitError(problem);
    llvm::SmallVector<int64_t> threads;
    for (const codegen::gpu::Launch &launch : kernels.launches)
      threads.push_back(launch.threads);
    codegen::addImage(module, target, architecture, text, threads);
    return mlir::success();
  }
};

} // namespace
} // namespace tessera
