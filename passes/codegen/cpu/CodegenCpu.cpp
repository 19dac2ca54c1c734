// Kernels to native code, for the processor that the module names in exec.target_cpu (this machine's,
// when it names none). Passes.td shows an example.
#include "passes/codegen/cpu/Passes.h"

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
    llvm::Expected<codegen::CpuTarget> target = targetOf(module);
    if (!target) {
      module.emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    std::string problem;
    auto compiled = codegen::compileKernels(sources, *target, problem);
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
    module->setAttr(
        "exec.code",
        mlir::DenseResourceElementsAttr::get(
            type, "exec_code", mlir::HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64)));
    module->setAttr("exec.target_cpu", b.getStringAttr(target->cpu));
    llvm::SmallVector<mlir::Attribute> features;
    for (const std::string &feature : target->features)
      features.push_back(b.getStringAttr(feature));
    module->setAttr("exec.target_features", b.getArrayAttr(features));
  }

  // What the module says; code that is generated again is for the same instruction sets.
  static llvm::Expected<codegen::CpuTarget> targetOf(mlir::ModuleOp module) {
    auto cpu = module->getAttrOfType<mlir::StringAttr>("exec.target_cpu");
    auto target = codegen::CpuTarget::named(cpu ? cpu.getValue() : "native");
    auto features = module->getAttrOfType<mlir::ArrayAttr>("exec.target_features");
    if (!target || !features)
      return target;
    target->features.clear();
    for (auto feature : features.getAsRange<mlir::StringAttr>())
      target->features.push_back(feature.str());
    return target;
  }
};

} // namespace
} // namespace tessera
