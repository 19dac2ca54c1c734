// Kernels to native code, for the processors of the module's target (this machine's, when it has
// none). Passes.td shows an example.
#include "passes/codegen/cpu/Passes.h"

#include "dialects/tessera/Marks.h"
#include "mlir/IR/Builders.h"
#include "passes/codegen/cpu/CompileKernels.h"
#include "passes/codegen/kernel/KernelImage.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/codegen/kernel/LibraryCall.h"

namespace tessera {

#define GEN_PASS_DEF_CODEGENCPU
#include "passes/codegen/cpu/Passes.h.inc"

namespace {

// The kernels that code is generated for; the runtime brings the others.
struct Kernels {
  llvm::SmallVector<exec::KernelOp> ops;
  std::vector<codegen::KernelSource> sources;
  std::vector<codegen::KernelInfo> infos; // of each the most that one of its images needs
};

struct CodegenCpuPass : impl::CodegenCpuBase<CodegenCpuPass> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    mlir::FailureOr<TargetAttr> target = ensureTarget(module);
    Kernels kernels;
    if (failed(target) || failed(collect(kernels)))
      return signalPassFailure();
    for (auto old : llvm::make_early_inc_range(module.getOps<exec::ImageOp>()))
      old.erase();
    for (ProcessorAttr processor : target->getProcessors())
      if (failed(addImage(*target, processor, kernels)))
        return signalPassFailure();
    mlir::Builder b(&getContext());
    for (auto [op, info] : llvm::zip(kernels.ops, kernels.infos)) {
      op.setGrid(info.grid);
      op.setScratchBytes(info.scratchBytes);
      op.setFlopsAttr(b.getF64FloatAttr(codegen::workOf(op).flops));
      op.removeProductAttr(); // of code for another target
    }
  }

private:
  mlir::LogicalResult collect(Kernels &kernels) {
    for (auto op : getOperation().getOps<exec::KernelOp>()) {
      if (LibraryCallOpInterface called = codegen::libraryOperation(*op.getBlock())) {
        if (failed(codegen::callLibrary(op, called)))
          return mlir::failure();
        continue;
      }
      kernels.ops.push_back(op);
      kernels.sources.push_back(codegen::sourceOf(op));
    }
    kernels.infos.resize(kernels.ops.size());
    return mlir::success();
  }

  // Compiles the kernels for a processor. A grid is the same for all images: cells past those that
  // a kernel has in its own do nothing.
  mlir::LogicalResult addImage(TargetAttr target, ProcessorAttr processor, Kernels &kernels) {
    mlir::ModuleOp module = getOperation();
    llvm::Expected<codegen::CpuTarget> cpu = codegen::CpuTarget::of(processor.toProcessor());
    if (!cpu)
      return module.emitError(llvm::toString(cpu.takeError()));
    std::string problem;
    auto compiled = codegen::compileKernels(kernels.sources, *cpu, problem);
    if (!problem.empty())
      module.emitError(problem);
    if (!compiled)
      return mlir::failure();
    for (auto [all, own] : llvm::zip(kernels.infos, compiled->infos)) {
      all.grid = std::max(all.grid, own.grid);
      all.scratchBytes = std::max(all.scratchBytes, own.scratchBytes);
    }
    codegen::addImage(module, target, processor, compiled->sharedObject);
    return mlir::success();
  }
};

} // namespace
} // namespace tessera
