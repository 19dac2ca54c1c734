#include "compiler/Road.h"

#include "compiler/ReadProgram.h"
#include "compiler/Registration.h"
#include "compiler/source/InputCheck.h"

#include "mlir/Pass/PassManager.h"

namespace tessera {

static mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

// One thread: passes are module passes, and a thread pool costs more to start than it would give
// back.
Road::Road(const CompileOptions &options, const CompileListener &listener)
    : options(options), listener(listener),
      context(dialects(), mlir::MLIRContext::Threading::DISABLED),
      diagnostics(&context, options.inputName, listener.diagnostic) {
  context
      .allowUnregisteredDialects(); // refused on reading, with a better message than the parser's
}

std::string Road::read(llvm::StringRef text, bool keepNames) {
  listener.began("parse");
  SourceProgram read = readProgram(text, options, &context, diagnostics, keepNames);
  program = std::move(read.module);
  return read.error;
}

std::string Road::run(llvm::StringRef end, llvm::function_ref<bool(const Phase &)> after) {
  bool isFar = holdsDevicePrograms(*program); // as memory leaves programs
  for (const Phase &phase : phases()) {
    isFar &= phase.name != "memory";
    if (phase.name == end)
      break;
    if (isFar) {
      if (!after(phase))
        break;
      continue;
    }
    listener.began(phase.name);
    mlir::PassManager passes(&context);
    passes.enableVerifier(options.verifyEach);
    phase.build(passes);
    if (failed(passes.run(*program)) || diagnostics.failed())
      return error(
          ("phase " + phase.name + " failed and did not say why: a mistake in Tessera").str());
    if (!after(phase))
      break;
  }
  return "";
}

} // namespace tessera
