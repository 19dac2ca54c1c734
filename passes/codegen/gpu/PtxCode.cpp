#include "passes/codegen/gpu/PtxCode.h"

#include "passes/codegen/cpu/ModuleCode.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/InferAlignment.h"

namespace tessera::codegen::gpu {

PtxCode::PtxCode(const target::Processor &architecture) {
  static bool isReady = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)isReady;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error, features;
  for (const std::string &feature : architecture.features)
    features += (features.empty() ? "+" : ",+") + feature;
  const llvm::Target *known = llvm::TargetRegistry::lookupTarget(triple, error);
  machine.reset(known->createTargetMachine(triple, architecture.name, features,
                                           llvm::TargetOptions(), std::nullopt, std::nullopt,
                                           llvm::CodeGenOptLevel::Default));
}

void PtxCode::prepare(llvm::Module &module) {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
}

std::string PtxCode::compile(llvm::Module &module, llvm::SmallVectorImpl<char> &text) {
  std::string broken;
  llvm::raw_string_ostream problems(broken);
  if (llvm::verifyModule(module, &problems))
    return "invalid code was generated: " + broken;
  llvm::ModulePassManager before;
  before.addPass(llvm::AlwaysInlinerPass());
  llvm::FunctionPassManager atEnd;
  atEnd.addPass(llvm::InferAlignmentPass()); // whole accesses of 16 bytes
  if (!compileModule(module, *machine, llvm::CodeGenFileType::AssemblyFile, text, std::move(before),
                     std::move(atEnd)))
    return "this LLVM writes no PTX";
  // What is called and not there would be an error only where the program is loaded.
  if (llvm::StringRef(text.data(), text.size()).contains(".extern"))
    return "a kernel calls what no GPU has";
  return "";
}

} // namespace tessera::codegen::gpu
