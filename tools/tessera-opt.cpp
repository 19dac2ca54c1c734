// tessera-opt: runs any pass or phase over a module, for tests and for reading what each leaves.
#include "compiler/DeepStack.h"
#include "compiler/Registration.h"
#include "compiler/source/PortableArtifact.h"
#include "compiler/source/SourceText.h"
#include "lib/files/InputFile.h"
#include "lib/files/OutputFile.h"
#include "lib/version/Version.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

#include <csignal>

static llvm::cl::opt<std::string> emitPortable(
    "emit-portable", llvm::cl::value_desc("VERSION"),
    llvm::cl::desc("Write a portable artifact that this release of StableHLO reads, such as 1.9.0 "
                   "or current"));
static llvm::cl::opt<bool>
    keepVhlo("keep-vhlo",
             llvm::cl::desc("Leave a portable artifact's operations as they are written"));

// What is Tessera's comes before MLIR's long list, which its own option prints.
static void printOwnHelp(int argc, char **argv) {
  for (llvm::StringRef argument : llvm::ArrayRef(argv, argc).drop_front())
    if (argument == "--help" || argument == "-help" || argument == "-h") {
      llvm::outs() << "usage: tessera-opt IN.mlir|- [-o OUT.mlir] --tessera-PASS.. | "
                      "--tessera-PHASE.. | --tessera-compile\n\n";
      tessera::printPasses();
      llvm::outs() << "\n--emit-portable=VERSION  " << emitPortable.HelpStr
                   << "\n--keep-vhlo              " << keepVhlo.HelpStr
                   << "\n\nMLIR's own help, with its passes:\n\n";
    }
}

int main(int argc, char **argv) {
  tessera::files::watchSignals();
  llvm::InitLLVM init(argc, argv);
  std::signal(SIGXFSZ, SIG_IGN); // `ulimit -f`: an error of the file that is written
  mlir::DialectRegistry registry;
  tessera::registerDialects(registry);
  tessera::registerPasses();
  printOwnHelp(argc, argv);
  mlir::registerTransformsPasses();
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &out) {
    out << "tessera-opt " << tessera::versionText() << ", with LLVM " LLVM_VERSION_STRING "\n";
  });
  auto [inputName, outputName] =
      mlir::registerAndParseCLIOptions(argc, argv, "Tessera's pass driver\n", registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, inputName, outputName, registry));
  std::string wrong, name = inputName == "-" ? "<stdin>" : inputName;
  auto read = tessera::files::readWhole(inputName, wrong);
  tessera::files::OutputFile output;
  if (read)
    wrong = output.open(outputName);
  std::unique_ptr<llvm::MemoryBuffer> text;
  if (wrong.empty())
    text = tessera::readableText(*read, name, wrong);
  std::string written;
  llvm::raw_string_ostream stream(written);
  bool failed = false;
  auto optimize = [&] {
    failed = llvm::failed(
        tessera::optimize(stream, std::move(text), registry, config, emitPortable, keepVhlo));
  };
  if (!wrong.empty() || !tessera::onDeepStack(optimize)) {
    llvm::errs() << (wrong.empty() ? tessera::kNoDeepStack : "error: " + wrong) << "\n";
    return 1;
  }
  bool isBytecode = llvm::StringRef(written).starts_with("ML\xefR");
  wrong = output.write(isBytecode ? written : tessera::unpackBooleans(written));
  if (wrong.empty())
    wrong = failed ? output.finish() : output.commit();
  if (!wrong.empty())
    llvm::errs() << "error: " << wrong << "\n";
  return failed || !wrong.empty();
}
