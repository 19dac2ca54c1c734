#include "passes/codegen/KernelScratch.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/Marks.h"
#include "dialects/tessera/ScratchMarks.h"
#include "lib/target/GpuArchitectures.h"
#include "passes/codegen/cpu/CompileKernels.h"
#include "passes/codegen/gpu/LibraryProduct.h"
#include "passes/codegen/kernel/LibraryCall.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::codegen {

// Of the processor that needs most. Kernels of GPUs have none of their own.
static std::vector<int64_t> measured(llvm::ArrayRef<KernelSource> kernels, TargetAttr target) {
  std::vector<int64_t> most;
  for (const KernelSource &kernel : kernels) {
    std::optional<library::Product> product = gpu::libraryProductOf(kernel, target);
    most.push_back(product ? product->workspaceBytes() : 0);
  }
  if (kernels.empty())
    return most;
  for (ProcessorAttr processor : target.getProcessors()) {
    if (target::isGpu(processor.toProcessor()))
      continue;
    llvm::Expected<CpuTarget> cpu = CpuTarget::of(processor.toProcessor());
    if (!cpu) {
      llvm::consumeError(cpu.takeError());
      continue;
    }
    for (auto [all, own] : llvm::zip(most, scratchOf(kernels, *cpu)))
      all = std::max(all, own);
  }
  return most;
}

static int64_t ofLibrary(LibraryCallOpInterface called) {
  mlir::ScopedDiagnosticHandler ignore(called->getContext(),
                                       [](mlir::Diagnostic &) { return mlir::success(); });
  mlir::FailureOr<LibraryCall> call = called.getLibraryCall();
  return failed(call) ? 0 : call->scratchBytes;
}

std::vector<int64_t> KernelScratch::of(llvm::ArrayRef<KernelSource> kernels, TargetAttr target) {
  std::vector<std::map<KernelKey, int64_t>::iterator> places;
  std::vector<KernelSource> missing;
  std::vector<int64_t *> into;
  for (const KernelSource &kernel : kernels) {
    auto [place, isNew] = known.try_emplace(keyOf(kernel));
    places.push_back(place);
    if (!isNew)
      continue;
    if (LibraryCallOpInterface called = libraryOperation(*kernel.body)) {
      place->second = ofLibrary(called);
      continue;
    }
    missing.push_back(kernel);
    missing.back().symbol = "kernel_" + std::to_string(missing.size());
    into.push_back(&place->second);
  }
  for (auto [bytes, place] : llvm::zip(measured(missing, target), into))
    *place = bytes;
  std::vector<int64_t> all;
  for (auto place : places)
    all.push_back(place->second);
  return all;
}

void KernelScratch::describe(mlir::ModuleOp module) {
  TargetAttr target = getTarget(module);
  if (!target)
    return;
  llvm::SmallVector<exec::KernelOp> ops(module.getOps<exec::KernelOp>());
  std::vector<KernelSource> kernels;
  for (exec::KernelOp op : ops)
    kernels.push_back(sourceOf(op));
  for (auto [op, bytes] : llvm::zip(ops, of(kernels, target)))
    op.setScratchBytes(bytes);
}

void KernelScratch::describeFused(mlir::ModuleOp module) {
  TargetAttr target = getTarget(module);
  if (!target)
    return;
  std::vector<exec::FusedOp> ops;
  std::vector<KernelSource> kernels;
  int64_t most = scheduleOf(module).scratchWithin ? 1 : 0;
  module.walk([&](exec::FusedOp fused) {
    ops.push_back(fused);
    kernels.push_back({"", fused.getBlock(), {}, most});
  });
  for (auto [op, bytes] : llvm::zip(ops, of(kernels, target)))
    setScratchBytes(op, bytes);
}

} // namespace tessera::codegen
