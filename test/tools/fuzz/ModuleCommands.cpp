#include "test/tools/fuzz/Commands.h"
#include "test/tools/fuzz/Modules.h"

#include "compiler/Compile.h"
#include "compiler/DeepStack.h"
#include "compiler/Registration.h"
#include "compiler/source/Diagnostics.h"
#include "compiler/source/PortableArtifact.h"
#include "compiler/source/SourceText.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::fuzz {
namespace {

// One for all children; each has its own copy of it.
mlir::MLIRContext &context() {
  static auto *made = [] {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    auto *context = new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
    context->allowUnregisteredDialects();
    context->loadAllAvailableDialects();
    return context;
  }();
  return *made;
}

int fail(const llvm::Twine &what, int code = 1) {
  llvm::errs() << "error: " << what << "\n";
  return code;
}

std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return text;
}

mlir::OwningOpRef<mlir::ModuleOp> parseFile(const std::string &path, std::string &problem) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    problem = path + ": " + file.getError().message();
    return nullptr;
  }
  return parse((*file)->getBuffer(), path, problem);
}

int save(const std::string &path, llvm::StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (code)
    return fail(path + ": " + code.message());
  file << bytes;
  return 0;
}

// Reads what was written; 0 when `text` comes back.
int compare(llvm::StringRef form, llvm::StringRef written, llvm::StringRef text) {
  std::string problem;
  auto again = parse(written, form, problem);
  if (!again)
    return fail("what was printed as " + form + " is not read: " + problem + "\n" + text, 3);
  std::string second = print(*again);
  if (second != text)
    return fail("what was printed as " + form + " comes back as another module:\n" + text +
                    "\n// ----- comes back as\n" + second,
                3);
  return 0;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef bytes, llvm::StringRef name,
                                        std::string &problem) {
  std::unique_ptr<llvm::MemoryBuffer> readable = readableText(bytes, name, problem);
  if (!readable)
    return nullptr;
  DiagnosticCollector diagnostics(&context(), name, [](const std::string &) {});
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(readable), llvm::SMLoc());
  auto module = readModule(sources, mlir::ParserConfig(&context()));
  if (!module)
    problem = diagnostics.error("is not a module");
  return module;
}

void warmUp() {
  context();
  CompileOptions options;
  options.stopAfter = "memory";
  compile("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
          "  %0 = stablehlo.add %a, %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
          options, silentListener());
}

int roundTrip(const std::string &path) {
  std::string problem;
  auto module = parseFile(path, problem);
  if (!module)
    return fail(problem);
  std::string text = print(*module);
  if (int code = compare("text", text, text))
    return code;
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  if (failed(mlir::writeBytecodeToFile(*module, stream)))
    return fail("no bytecode of this module:\n" + text, 3);
  if (int code = compare("bytecode", bytecode, text))
    return code;
  std::string artifact;
  llvm::raw_string_ostream out(artifact);
  DiagnosticCollector quiet(&context(), path, [](const std::string &) {});
  if (succeeded(writePortableArtifact(*module, vhlo::current, out)) &&
      !parse(artifact, "artifact", problem)) {
    bool huge = problem.find("a constant of") != problem.npos; // refused with its reason
    return fail("the portable artifact is not read: " + problem + "\n" + text, huge ? 1 : 3);
  }
  return 0;
}

// As deeply nested as it may be: others write bytecode too.
int writeBytecode(const std::string &from, const std::string &to) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  llvm::LogicalResult written = llvm::failure();
  onDeepStack([&] {
    DiagnosticCollector quiet(&context(), from, [](const std::string &) {});
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(from, mlir::ParserConfig(&context()));
    if (module)
      written = mlir::writeBytecodeToFile(*module, stream);
    (void)module.release(); // which would recurse
  });
  return failed(written) ? fail(from + " is not a module") : save(to, bytes);
}

int writePortable(const std::string &from, const std::string &to, const std::string &release) {
  std::string problem, bytes;
  auto module = parseFile(from, problem);
  auto version = vhlo::Version::parse(release);
  llvm::raw_string_ostream stream(bytes);
  if (!module || !version || failed(writePortableArtifact(*module, *version, stream)))
    return fail(problem);
  return save(to, bytes);
}

} // namespace tessera::fuzz
