#include "compiler/source/PortableArtifact.h"

#include "compiler/source/Diagnostics.h"
#include "compiler/source/Nesting.h"
#include "compiler/source/NewerTypes.h"
#include "compiler/source/SandboxedRead.h"
#include "dialects/vhlo/Vhlo.h"
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
  if (!module || failed(checkNesting(module)))
    return nullptr;
  if (!config.getContext()->getLoadedDialect<vhlo::VhloDialect>())
    return module;
  if (failed(legalizeToStablehlo(*module)) || failed(mlir::verify(*module)))
    return nullptr;
  return module;
}

// Why a read has nothing to show.
std::string describe(ReadEnd end) {
  if (end == ReadEnd::Crashed)
    return "the bytecode is damaged: its lengths or references lead nowhere; write the file again";
  return "the bytecode takes as long to read as a damaged file does; write it again, "
         "or as text";
}

// The module of a file of bytecode, in bytecode that is sound: 'M' before it; or 'E' and the place
// and text of an error, each behind a zero.
std::string readAnew(llvm::SourceMgr &sources, const mlir::ParserConfig &config, bool legalize) {
  std::string error;
  mlir::ScopedDiagnosticHandler handler(config.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (error.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      error = describeLocation(diagnostic.getLocation(), "") + '\0' + diagnostic.str();
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      legalize ? readTrusted(sources, config)
               : mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
  std::string out = "M";
  llvm::raw_string_ostream stream(out);
  if (!module || failed(checkNesting(module)) || failed(mlir::writeBytecodeToFile(*module, stream)))
    return "E" + error;
  return out;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::SourceMgr &sources,
                                             const mlir::ParserConfig &config) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  if (!mlir::isBytecode(buffer->getMemBufferRef()))
    return readTrusted(sources, config);
  SandboxedRead read = readSandboxed([&] { return readAnew(sources, config, /*legalize=*/true); },
                                     buffer->getBufferSize());
  if (read.end == ReadEnd::NotTried)
    return readTrusted(sources, config);
  mlir::MLIRContext *context = config.getContext();
  llvm::StringRef output = read.output;
  if (read.end == ReadEnd::Fine && output.consume_front("M")) {
    llvm::SourceMgr sound;
    sound.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(output, buffer->getBufferIdentifier()), llvm::SMLoc());
    return mlir::parseSourceFile<mlir::ModuleOp>(sound, config);
  }
  std::string text = describe(read.end);
  mlir::Location location = mlir::FileLineColLoc::get(context, buffer->getBufferIdentifier(), 0, 0);
  if (read.end == ReadEnd::Fine) {
    output.consume_front("E");
    auto [place, message] = output.split('\0');
    text = message.empty() ? "is no module in bytecode" : message.str();
    auto [front, column] = place.rsplit(':');
    auto [file, line] = front.rsplit(':');
    unsigned l, c;
    if (!line.getAsInteger(10, l) && !column.getAsInteger(10, c))
      location = mlir::FileLineColLoc::get(context, file, l, c);
  }
  mlir::emitError(location) << text;
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
    if (mlir::isBytecode(input->getMemBufferRef())) {
      llvm::SourceMgr sources;
      sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(input->getMemBufferRef(), false),
                                 llvm::SMLoc());
      mlir::ParserConfig reading(&context);
      readNewerTypes(reading);
      SandboxedRead read = readSandboxed([&] { return readAnew(sources, reading, legalize); },
                                         input->getBufferSize());
      if (read.end == ReadEnd::Crashed || read.end == ReadEnd::TooLong) {
        llvm::errs() << "error: " << input->getBufferIdentifier() << ": " << describe(read.end)
                     << "\n";
        return llvm::failure();
      }
      // Read anew, it is bytecode of this MLIR. What can't be read MLIR itself refuses below.
      if (llvm::StringRef sound = read.output;
          read.end == ReadEnd::Fine && sound.consume_front("M"))
        input = llvm::MemoryBuffer::getMemBufferCopy(sound, input->getBufferIdentifier());
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
