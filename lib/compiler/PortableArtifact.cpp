#include "lib/compiler/PortableArtifact.h"

#include "dialects/vhlo/Vhlo.h"
#include "lib/compiler/ReadTrial.h"
#include "passes/portable/Passes.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

namespace tessera {

namespace {

// Reads and legalizes, whatever the bytes do to MLIR's reader.
mlir::OwningOpRef<mlir::ModuleOp> readTrusted(llvm::SourceMgr &sources,
                                              const mlir::ParserConfig &config) {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
  if (!module || !config.getContext()->getLoadedDialect<vhlo::VhloDialect>())
    return module;
  if (failed(legalizeToStablehlo(*module)) || failed(mlir::verify(*module)))
    return nullptr;
  return module;
}

// What is wrong with bytes that MLIR's reader does not survive; nothing for all others.
std::string damage(const llvm::MemoryBuffer &buffer, mlir::MLIRContext *context) {
  if (!mlir::isBytecode(buffer.getMemBufferRef()))
    return "";
  auto read = [&] {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(buffer.getMemBufferRef(), false),
                               llvm::SMLoc());
    readTrusted(sources, mlir::ParserConfig(context));
  };
  switch (tryInChild(read, buffer.getBufferSize())) {
  case Trial::Fine:
    return "";
  case Trial::Crashed:
    return "the bytecode is damaged: its lengths or references lead nowhere; write the file again";
  case Trial::TooLong:
    return "the bytecode takes more than 8 seconds to read, as a damaged file does; write it "
           "again, "
           "or as text";
  }
  return "";
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::SourceMgr &sources,
                                             const mlir::ParserConfig &config) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  std::string problem = damage(*buffer, config.getContext());
  if (problem.empty())
    return readTrusted(sources, config);
  mlir::emitError(
      mlir::FileLineColLoc::get(config.getContext(), buffer->getBufferIdentifier(), 0, 0))
      << problem;
  return nullptr;
}

llvm::LogicalResult writePortableArtifact(mlir::ModuleOp module, vhlo::Version release,
                                          llvm::raw_ostream &out) {
  if (failed(legalizeToVhlo(module, release)) || failed(mlir::verify(module)))
    return llvm::failure();
  std::string producer = "StableHLO_v" + release.str(); // not copied
  mlir::BytecodeWriterConfig config(producer);
  config.setDesiredBytecodeVersion(release.bytecodeVersion());
  return mlir::writeBytecodeToFile(module, out, config);
}

namespace {
struct WritePortablePass
    : mlir::PassWrapper<WritePortablePass, mlir::OperationPass<mlir::ModuleOp>> {
  WritePortablePass(vhlo::Version release, llvm::raw_ostream &out) : release(release), out(out) {}
  void runOnOperation() override {
    if (failed(writePortableArtifact(getOperation(), release, out)))
      signalPassFailure();
  }
  llvm::StringRef getName() const override { return "write-portable-artifact"; }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<vhlo::VhloDialect>();
  }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WritePortablePass)

  vhlo::Version release;
  llvm::raw_ostream &out;
};
} // namespace

llvm::LogicalResult optimize(llvm::raw_ostream &out, std::unique_ptr<llvm::MemoryBuffer> input,
                             mlir::DialectRegistry &registry, mlir::MlirOptMainConfig config,
                             const std::string &emitPortable, bool keepVhlo) {
  bool legalize = !keepVhlo && vhlo::artifactVersion(input->getBuffer());
  std::optional<vhlo::Version> release;
  if (!emitPortable.empty() && !(release = vhlo::Version::parse(emitPortable))) {
    llvm::errs() << "error: --emit-portable=" << emitPortable
                 << ": no release of StableHLO; write it as " << vhlo::current.str() << "\n";
    return llvm::failure();
  }
  {
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
    if (std::string problem = damage(*input, &context); !problem.empty()) {
      llvm::errs() << "error: " << input->getBufferIdentifier() << ": " << problem << "\n";
      return llvm::failure();
    }
  }
  mlir::MlirOptMainConfig passes = config;
  config.setPassPipelineSetupFn([&](mlir::PassManager &pm) {
    if (legalize)
      pm.addPass(createVhloToStablehlo());
    if (failed(passes.setupPassPipeline(pm)))
      return llvm::failure();
    if (release)
      pm.addPass(std::make_unique<WritePortablePass>(*release, out));
    return llvm::success();
  });
  // With --emit-portable the artifact is the output, and the text that follows is not.
  return mlir::MlirOptMain(release ? llvm::nulls() : out, std::move(input), registry, config);
}

} // namespace tessera
