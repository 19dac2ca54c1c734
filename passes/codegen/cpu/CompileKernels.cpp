#include "passes/codegen/cpu/CompileKernels.h"

#include "lib/files/OutputFile.h"
#include "lib/process/OutOfMemory.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/codegen/cpu/DoubleMath.h"
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/cpu/SharedObject.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <utility>

namespace tessera::codegen {

namespace {

// A part of the kernels with the LLVM module they become. The parts don't depend on the number of
// threads.
struct Part {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  llvm::SmallVector<char, 0> object;
  std::string problem;
  size_t instructions = 0;                 // of the functions
  const llvm::Function *counted = nullptr; // up to this one

  void count() {
    llvm::Module::const_iterator next =
        counted ? std::next(counted->getIterator()) : std::as_const(*module).begin();
    for (; next != std::as_const(*module).end(); ++next) {
      instructions += next->getInstructionCount();
      counted = &*next;
    }
  }
};

} // namespace

// Nothing, or why there is no code.
static std::string compilePart(Part &part, ObjectCode &code) {
  defineDoubles(*part.module);
  if (const char *path = std::getenv("TESSERA_DUMP_LLVM")) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    part.module->print(stream, nullptr);
    files::OutputFile file;
    std::string wrong = file.open(path);
    if (wrong.empty())
      wrong = file.write(text);
    if (wrong.empty())
      wrong = file.commit();
    if (!wrong.empty())
      return "TESSERA_DUMP_LLVM=" + wrong;
  }
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*part.module, &stream))
    return "invalid code was generated: " + broken;
  return code.compile(*part.module, part.object) ? "" : "this LLVM writes no object files";
}

std::optional<CompiledKernels> compileKernels(llvm::ArrayRef<KernelSource> kernels,
                                              const CpuTarget &target, std::string &problem,
                                              unsigned threads) {
  CompiledKernels result;
  result.infos.resize(kernels.size());
  size_t partCount = kernels.size() > 1 ? 2 : 1; // without kernels: an empty shared object
  std::vector<Part> parts(partCount);
  for (size_t p = 0; p < partCount; ++p) {
    Part &part = parts[p];
    part.module = std::make_unique<llvm::Module>("kernels", part.context);
    ObjectCode(target).prepare(*part.module);
  }
  bool ok = true;
  for (auto [kernel, info] : llvm::zip(kernels, result.infos)) {
    Part &shorter = *llvm::min_element(
        parts, [](const Part &a, const Part &b) { return a.instructions < b.instructions; });
    ok &= emitKernel(kernel, *shorter.module, target.vectors, info);
    shorter.count();
  }
  if (!ok)
    return std::nullopt;
  auto work = [&](Part &part) {
    ObjectCode code(target);
    part.problem = compilePart(part, code);
  };
  if (threads > 1 && partCount > 1) {
    runBoth([&] { work(parts[0]); }, [&] { work(parts[1]); });
  } else {
    for (Part &part : parts)
      work(part);
  }
  llvm::SmallVector<llvm::SmallVector<char, 0>> objects;
  for (Part &part : parts) {
    if (!part.problem.empty()) {
      problem = part.problem;
      return std::nullopt;
    }
    objects.push_back(std::move(part.object));
  }
  std::string error;
  auto linked = linkSharedObject(objects, error);
  if (!linked) {
    problem = "the kernels could not be linked: " + error;
    return std::nullopt;
  }
  result.sharedObject = std::move(*linked);
  return result;
}

std::vector<int64_t> scratchOf(llvm::ArrayRef<KernelSource> kernels, const CpuTarget &target) {
  std::vector<int64_t> bytes;
  llvm::LLVMContext context;
  llvm::Module module("kernels", context);
  ObjectCode(target).prepare(module);
  for (const KernelSource &kernel : kernels) {
    KernelInfo info;
    mlir::ScopedDiagnosticHandler ignore(kernel.body->getParentOp()->getContext(),
                                         [](mlir::Diagnostic &) { return mlir::success(); });
    bool ok = emitKernel(kernel, module, target.vectors, info);
    bytes.push_back(ok ? info.scratchBytes : 0);
  }
  return bytes;
}

} // namespace tessera::codegen
