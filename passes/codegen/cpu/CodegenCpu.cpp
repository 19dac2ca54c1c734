// Kernels to native code, for the processor of the module's target (this machine's, when it has
// none). Passes.td shows an example.
#include "passes/codegen/cpu/Passes.h"

#include "dialects/tessera/Marks.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/codegen/cpu/CompileKernels.h"
#include "passes/codegen/kernel/LibraryCall.h"

namespace tessera {

#define GEN_PASS_DEF_CODEGENCPU
#include "passes/codegen/cpu/Passes.h.inc"

namespace {

struct CodegenCpuPass : impl::CodegenCpuBase<CodegenCpuPass> {
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    llvm::SmallVector<exec::KernelOp> ops;
    std::vector<codegen::KernelSource> sources;
    for (auto op : module.getOps<exec::KernelOp>()) {
      if (LibraryCallOpInterface called = codegen::libraryOperation(*op.getBlock())) {
        if (failed(codegen::callLibrary(op, called)))
          return signalPassFailure();
        continue;
      }
      ops.push_back(op);
      codegen::KernelSource source;
      source.symbol = op.getSymName().str();
      source.body = op.getBlock();
      for (unsigned i = 0; i < op.getOutputTypes().size(); ++i)
        source.inplace.push_back(op.inplaceOperand(i));
      sources.push_back(std::move(source));
    }
    mlir::FailureOr<TargetAttr> target = ensureTarget(module);
    if (failed(target))
      return signalPassFailure();
    if (target->getProcessors().size() != 1) {
      module.emitError("a program has code for one processor; name one");
      return signalPassFailure();
    }
    llvm::Expected<codegen::CpuTarget> cpu =
        codegen::CpuTarget::of(target->getProcessors().front().toProcessor());
    if (!cpu) {
      module.emitError(llvm::toString(cpu.takeError()));
      return signalPassFailure();
    }
    std::string problem;
    auto compiled = codegen::compileKernels(sources, *cpu, problem);
    if (!problem.empty())
      module.emitError(problem);
    if (!compiled)
      return signalPassFailure();

    mlir::Builder b(&getContext());
    for (auto [op, info] : llvm::zip(ops, compiled->infos)) {
      op.setGrid(info.grid);
      op.setScratchBytes(info.scratchBytes);
      op.setFlopsAttr(b.getF64FloatAttr(info.flops));
    }
    llvm::ArrayRef<char> bytes(compiled->sharedObject);
    auto type = mlir::RankedTensorType::get({static_cast<int64_t>(bytes.size())}, b.getI8Type());
    auto code = mlir::DenseResourceElementsAttr::get(
        type, "exec_code", mlir::HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
    ProcessorAttr processor = target->getProcessors().front();
    llvm::SmallVector<mlir::Attribute> features(processor.getFeatures().begin(),
                                                processor.getFeatures().end());
    for (auto old : llvm::make_early_inc_range(module.getOps<exec::ImageOp>()))
      old.erase();
    auto end = mlir::OpBuilder::atBlockEnd(module.getBody());
    exec::ImageOp::create(end, module.getLoc(), target->getName(), processor.getName(),
                          b.getArrayAttr(features), code, mlir::DenseI64ArrayAttr());
  }
};

} // namespace
} // namespace tessera
