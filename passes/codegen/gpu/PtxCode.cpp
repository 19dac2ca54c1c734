#include "passes/codegen/gpu/PtxCode.h"

#include "passes/codegen/cpu/ModuleCode.h"
#include "passes/codegen/gpu/AccessAlignment.h"
#include "passes/codegen/gpu/KnownLanes.h"
#include "passes/codegen/gpu/LoopCopies.h"
#include "passes/codegen/gpu/NarrowNumbers.h"
#include "passes/codegen/gpu/Quotients.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"

namespace tessera::codegen::gpu {

PtxCode::PtxCode(const target::Processor &architecture) {
  static bool isReady = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Addresses in shared memory have 32 bits, as nvcc's do: LLVM has no other way to ask for it.
    auto &options = llvm::cl::getRegisteredOptions();
    if (auto found = options.find("nvptx-short-ptr"); found != options.end())
      static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(true);
    return true;
  }();
  (void)isReady;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error, features;
  for (llvm::StringRef feature : architecture.features)
    if (feature.starts_with("ptx")) // the others are not LLVM's
      features = "+" + feature.str();
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
  before.addPass(llvm::createModuleToFunctionPassAdaptor(AccessAlignmentPass()));
  before.addPass(llvm::createModuleToFunctionPassAdaptor(NarrowNumbersPass()));
  llvm::FunctionPassManager atEnd;
  atEnd.addPass(KnownLanesPass());
  atEnd.addPass(QuotientsPass());
  atEnd.addPass(LoopCopiesPass());
  if (!compileModule(module, *machine, llvm::CodeGenFileType::AssemblyFile, text, std::move(before),
                     std::move(atEnd)))
    return "this LLVM writes no PTX";
  // What is called and not there would be an error only where the program is loaded.
  llvm::StringRef written(text.data(), text.size());
  bool callsOthers = written.count(".extern") != written.count(".extern .shared");
  return callsOthers ? "a kernel calls what no GPU has" : "";
}

// Tables, and the memory that launches add: in one text with another part's they need names of their own.
static void renameGlobals(llvm::Module &module) {
  for (llvm::GlobalVariable &global : module.globals())
    global.setName((global.hasName() ? global.getName() : "table") + "_of_rest");
}

std::string compileParts(ModuleParts &parts, const target::Processor &architecture,
                         llvm::SmallVectorImpl<char> &text) {
  for (ModulePart &part : llvm::drop_begin(parts.parts()))
    renameGlobals(*part.module);
  std::string problem = parts.compile(
      [&](ModulePart &part) { return PtxCode(architecture).compile(*part.module, part.code); });
  if (!problem.empty())
    return problem;
  constexpr llvm::StringRef kEndOfHead = ".address_size 64\n";
  for (const ModulePart &part : parts.parts()) {
    llvm::StringRef written(part.code.data(), part.code.size());
    llvm::append_range(text, text.empty() ? written : written.split(kEndOfHead).second);
  }
  return "";
}

} // namespace tessera::codegen::gpu
