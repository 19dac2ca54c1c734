// compile: parse, then one pass manager a phase, timed, then package.
#include "compiler/Compile.h"

#include "compiler/DeepStack.h"
#include "compiler/Diagnostics.h"
#include "compiler/Entry.h"
#include "compiler/Phases.h"
#include "compiler/ReadProgram.h"
#include "compiler/Registration.h"
#include "compiler/Report.h"
#include "passes/codegen/cpu/CpuTarget.h"
#include "passes/package/Package.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>

namespace tessera {
namespace {

class Stopwatch {
public:
  // Seconds since the last lap.
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double seconds = std::chrono::duration<double>(now - last).count();
    last = now;
    return seconds;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  return text;
}

std::string toText(llvm::json::Object object) {
  return llvm::formatv("{0:2}", llvm::json::Value(std::move(object))).str();
}

std::string phaseNames() {
  std::string names;
  for (const Phase &phase : phases())
    names += (names.empty() ? "" : ", ") + phase.name.str();
  return names;
}

// What is wrong with the options, empty when nothing is.
std::string checkOptions(const CompileOptions &options) {
  if (options.target == "cuda")
    return "error: --target=cuda: this build generates code for CPUs only; use --target=cpu";
  if (options.target != "cpu")
    return "error: --target=" + options.target + ": no such target; use --target=cpu";
  if (auto cpu = codegen::CpuTarget::named(options.targetCpu); !cpu)
    return "error: " + llvm::toString(cpu.takeError());
  for (auto [flag, name] :
       {std::pair("--stop-after", options.stopAfter), {"--print-after", options.printAfter}})
    if (!name.empty() && !findPhase(name))
      return std::string("error: ") + flag + "=" + name +
             ": no such phase; phases: " + phaseNames();
  return "";
}

CompileResult compileHere(llvm::StringRef text, const CompileOptions &options,
                          const CompileListener &listener) {
  CompileResult result;
  if (result.error = checkOptions(options); !result.error.empty())
    return result;

  Stopwatch watch;
  llvm::json::Array seconds;
  auto timed = [&](llvm::StringRef phase) {
    seconds.push_back(
        llvm::json::Object{{"name", phase}, {"seconds", std::round(watch.lap() * 1e6) / 1e6}});
  };

  mlir::DialectRegistry registry;
  registerDialects(registry);
  // One thread: passes are module passes, and a thread pool costs more to start than it would give
  // back.
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(); // refused below, with a better message than the parser's
  DiagnosticCollector diagnostics(&context, options.inputName, listener.diagnostic);

  listener.began("parse");
  SourceProgram read = readProgram(text, options, &context, diagnostics);
  if (!read.error.empty()) {
    result.error = read.error;
    return result;
  }
  mlir::ModuleOp module = *read.module;
  if (options.targetCpu != "native")
    module->setAttr("exec.target_cpu", mlir::StringAttr::get(&context, options.targetCpu));
  timed("parse");

  for (const Phase &phase : phases()) {
    listener.began(phase.name);
    mlir::PassManager pm(&context);
    pm.enableVerifier(options.verifyEach);
    phase.build(pm);
    if (failed(pm.run(module)) || diagnostics.failed()) {
      result.error = diagnostics.error(
          ("phase " + phase.name + " failed and did not say why: a mistake in Tessera").str());
      return result;
    }
    if (&phase != &phases().back())
      timed(phase.name); // the last one's time includes the writing below
    if (phase.name == options.printAfter)
      listener.print(printed(module));
    if (phase.name == options.stopAfter) {
      result.program = printed(module);
      break;
    }
  }

  bool whole = options.stopAfter.empty();
  llvm::json::Object report = reportProgram(module, countDevices(module));
  if (whole) {
    // The program carries its figures, but no times: the same input gives the same bytes.
    mlir::FailureOr<Package> package = packageProgram(module, toText(llvm::json::Object(report)));
    if (failed(package)) {
      result.error = diagnostics.error("the program cannot be written");
      return result;
    }
    result.program = writeContainer(*package);
    result.sha256 =
        llvm::toHex(llvm::SHA256::hash({reinterpret_cast<const uint8_t *>(result.program.data()),
                                        result.program.size()}),
                    /*LowerCase=*/true);
    report["sha256"] = result.sha256;
    timed(phases().back().name);
  }
  report["phases"] = std::move(seconds);
  result.report = toText(std::move(report)) + "\n";
  return result;
}

} // namespace

CompileResult compile(llvm::StringRef text, const CompileOptions &options,
                      const CompileListener &listener) {
  CompileResult result;
  if (!onDeepStack([&] { result = compileHere(text, options, listener); }))
    result.error = kNoDeepStack;
  return result;
}

} // namespace tessera
