#include "passes/codegen/cpu/CompileKernels.h"

#include "lib/files/OutputFile.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/codegen/cpu/DoubleMath.h"
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/cpu/ModuleParts.h"
#include "passes/codegen/cpu/SharedObject.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <utility>

namespace tessera::codegen {

// Nothing, or why the file is not there.
static std::string writeText(const llvm::Module &module, const std::string &path) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  files::OutputFile file;
  std::string wrong = file.open(path);
  if (wrong.empty())
    wrong = file.write(text);
  if (wrong.empty())
    wrong = file.commit();
  return wrong;
}

// Nothing, or why there is no code. With TESSERA_DUMP_LLVM=PATH the first part's text is written there, the
// second's to PATH.2.
static std::string compilePart(ModulePart &part, bool isFirst, const CpuTarget &target) {
  defineDoubles(*part.module);
  if (const char *path = std::getenv("TESSERA_DUMP_LLVM")) {
    std::string wrong = writeText(*part.module, std::string(path) + (isFirst ? "" : ".2"));
    if (!wrong.empty())
      return "TESSERA_DUMP_LLVM=" + wrong;
  }
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*part.module, &stream))
    return "invalid code was generated: " + broken;
  return ObjectCode(target).compile(*part.module, part.code) ? ""
                                                             : "this LLVM writes no object files";
}

std::optional<CompiledKernels> compileKernels(llvm::ArrayRef<KernelSource> kernels,
                                              const CpuTarget &target, std::string &problem,
                                              unsigned threads) {
  CompiledKernels result;
  result.infos.resize(kernels.size());
  // Without kernels: an empty shared object.
  ModuleParts parts(kernels.size(),
                    [&](llvm::Module &module) { ObjectCode(target).prepare(module); });
  bool ok = true;
  for (auto [kernel, info] : llvm::zip(kernels, result.infos))
    ok &= emitKernel(kernel, parts.shortest(), target.vectors, info);
  if (!ok)
    return std::nullopt;
  problem = parts.compile(
      [&](ModulePart &part) { return compilePart(part, &part == &parts.parts().front(), target); },
      threads);
  if (!problem.empty())
    return std::nullopt;
  llvm::SmallVector<llvm::SmallVector<char, 0>> objects;
  for (ModulePart &part : parts.parts())
    objects.push_back(std::move(part.code));
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
