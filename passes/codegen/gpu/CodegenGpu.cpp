// Kernels to PTX, for the architectures of the module's target; those of the runtime's library are computed on
// the host (docs/rationale/gpu.md). Passes.td shows an example.
#include "passes/codegen/gpu/Passes.h"

#include "dialects/tessera/Marks.h"
#include "lib/target/GpuArchitectures.h"
#include "mlir/IR/Builders.h"
#include "passes/codegen/gpu/Cubin.h"
#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/gpu/EqualKernels.h"
#include "passes/codegen/gpu/LibraryProduct.h"
#include "passes/codegen/gpu/PtxCode.h"
#include "passes/codegen/kernel/KernelImage.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/codegen/kernel/LibraryCall.h"
#include "llvm/ADT/StringMap.h"

namespace tessera {

#define GEN_PASS_DEF_CODEGENGPU
#include "passes/codegen/gpu/Passes.h.inc"

namespace {

struct Kernels {
  llvm::SmallVector<exec::KernelOp> ops;
  std::vector<codegen::KernelSource> sources;
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
    for (auto [op, source] : llvm::zip(kernels.ops, kernels.sources)) {
      op.setFlopsAttr(b.getF64FloatAttr(codegen::workOf(op).flops));
      markProduct(op, codegen::gpu::libraryProductOf(source, target));
    }
  }

private:
  mlir::LogicalResult collect(Kernels &kernels) {
    for (auto op : getOperation().getOps<exec::KernelOp>()) {
      if (LibraryCallOpInterface called = codegen::libraryOperation(*op.getBlock())) {
        if (failed(codegen::callLibrary(op, called)))
          return mlir::failure();
        if (op.getOutside())
          return called->emitError("'")
                 << called->getName() << "' has no code for --target=cuda yet (docs/limits.md)";
        continue;
      }
      kernels.ops.push_back(op);
      kernels.sources.push_back(codegen::sourceOf(op));
    }
    return mlir::success();
  }

  void markProduct(exec::KernelOp op, const std::optional<library::Product> &product) {
    op.removeProductAttr();
    if (product)
      op.setProduct(product->numbers());
    op.setScratchBytes(product ? product->workspaceBytes() : 0);
  }

  mlir::LogicalResult addImage(TargetAttr target, ProcessorAttr architecture, Kernels &kernels) {
    mlir::ModuleOp module = getOperation();
    target::Processor processor = architecture.toProcessor();
    codegen::ModuleParts parts(kernels.sources.size(), [&](llvm::Module &part) {
      codegen::gpu::PtxCode(processor).prepare(part);
    });
    bool ok = true;
    std::vector<codegen::gpu::Launch> launches(kernels.sources.size());
    codegen::gpu::GpuFeatures features{target::hasWarpgroups(processor),
                                       target::mostSharedBytes(processor)};
    for (auto [source, launch] : llvm::zip(kernels.sources, launches))
      ok &= codegen::gpu::emitKernel(source, parts.shortest(), features, launch);
    if (!ok)
      return mlir::failure();
    llvm::SmallVector<char, 0> text;
    if (std::string problem = codegen::gpu::compileParts(parts, processor, text); !problem.empty())
      return module.emitError(problem);
    mergeEqual(kernels, launches, text);
    auto add = [&](llvm::StringRef assembler, llvm::ArrayRef<char> bytes) {
      setLaunches(kernels, launches,
                  codegen::addImage(module, target, imageOf(architecture, assembler), bytes));
    };
    add("", text);
    return has(architecture, target::kCubin) ? addMachineCode(architecture, text, add)
                                             : mlir::success();
  }

  static void mergeEqual(const Kernels &kernels, llvm::ArrayRef<codegen::gpu::Launch> launches,
                         llvm::SmallVectorImpl<char> &text) {
    llvm::StringMap<codegen::gpu::LaunchOfCode> known;
    for (auto [source, launch] : llvm::zip(kernels.sources, launches))
      known[source.symbol] = {launch.threads, launch.sharedBytes};
    codegen::gpu::mergeEqualKernels(text, [&](llvm::StringRef name) { return known.lookup(name); });
  }

  mlir::LogicalResult
  addMachineCode(ProcessorAttr architecture, llvm::ArrayRef<char> text,
                 llvm::function_ref<void(llvm::StringRef assembler, llvm::ArrayRef<char>)> add) {
    auto failed = [&](llvm::Error error) {
      return getOperation().emitError("--target=cuda:" + architecture.getName() + "+" +
                                      target::kCubin + ": " + llvm::toString(std::move(error)));
    };
    llvm::Expected<codegen::gpu::Ptxas> ptxas = codegen::gpu::Ptxas::find();
    if (!ptxas)
      return failed(ptxas.takeError());
    llvm::SmallVector<char, 0> cubin;
    if (llvm::Error error = ptxas->assemble(llvm::StringRef(text.data(), text.size()),
                                            architecture.getName(), cubin))
      return failed(std::move(error));
    add(ptxas->version(), cubin);
    return mlir::success();
  }

  static bool has(ProcessorAttr architecture, llvm::StringRef feature) {
    return llvm::is_contained(architecture.toProcessor().features, feature);
  }

  // What an image has: PTX, or machine code by the ptxas that `assembler` names; and what goes with both.
  ProcessorAttr imageOf(ProcessorAttr architecture, llvm::StringRef assembler) {
    target::Processor image = architecture.toProcessor();
    bool isPtx = assembler.empty();
    llvm::erase_if(image.features, [&](llvm::StringRef feature) {
      return isPtx ? feature == target::kCubin : feature.starts_with("ptx");
    });
    if (!isPtx)
      image.features.push_back(assembler.str());
    return ProcessorAttr::of(&getContext(), image);
  }

  // Grids of the first image are the kernels'.
  void setLaunches(Kernels &kernels, llvm::ArrayRef<codegen::gpu::Launch> launches,
                   exec::ImageOp image) {
    bool isFirst = *getOperation().getOps<exec::ImageOp>().begin() == image, differs = false;
    llvm::SmallVector<mlir::Attribute> attributes;
    llvm::SmallVector<int64_t> grids;
    const codegen::gpu::Launch *next = launches.begin();
    for (auto op : getOperation().getOps<exec::KernelOp>()) {
      codegen::gpu::Launch onHost;
      onHost.blocks = op.getGrid().value_or(1);
      const codegen::gpu::Launch &launch = op.getLibrary() ? onHost : *next++;
      attributes.push_back(attributeOf(launch));
      grids.push_back(launch.blocks);
      if (isFirst)
        op.setGrid(launch.blocks);
      differs |= op.getGrid() != static_cast<uint64_t>(launch.blocks);
    }
    image.setLaunchesAttr(mlir::ArrayAttr::get(&getContext(), attributes));
    if (differs)
      image.setGrids(grids);
  }

  mlir::Attribute attributeOf(const codegen::gpu::Launch &launch) {
    mlir::Builder b(&getContext());
    llvm::SmallVector<mlir::Attribute> maps;
    for (const codegen::gpu::OperandMap &map : launch.maps)
      maps.push_back(exec::TensorMapAttr::get(
          &getContext(), map.operand, map.offset,
          map.isBf16 ? mlir::Type(b.getBF16Type()) : mlir::Type(b.getF16Type()),
          b.getDenseI64ArrayAttr(map.sizes), b.getDenseI64ArrayAttr(map.strides),
          b.getDenseI64ArrayAttr(map.box)));
    return exec::LaunchAttr::get(&getContext(), launch.threads, launch.sharedBytes,
                                 maps.empty() ? mlir::ArrayAttr() : b.getArrayAttr(maps));
  }
};

} // namespace
} // namespace tessera
