#include "passes/codegen/cpu/ObjectCode.h"

#include "passes/codegen/cpu/FreezeInvariants.h"
#include "passes/codegen/cpu/ModuleCode.h"
#include "llvm/IR/PassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

namespace tessera::codegen {

ObjectCode::ObjectCode(const CpuTarget &target) {
  static bool isReady = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)isReady;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *known = llvm::TargetRegistry::lookupTarget(triple, error);
  machine.reset(known->createTargetMachine(triple, target.processor.name, target.switches(),
                                           llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt,
                                           llvm::CodeGenOptLevel::Default));
}

void ObjectCode::prepare(llvm::Module &module) {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
}

bool ObjectCode::compile(llvm::Module &module, llvm::SmallVectorImpl<char> &object) {
  // Kernels that a loop in one kernel calls (LoopKernel.cpp); then what it calls them with is seen.
  llvm::ModulePassManager before;
  before.addPass(llvm::AlwaysInlinerPass());
  before.addPass(
      llvm::createModuleToFunctionPassAdaptor(llvm::SROAPass(llvm::SROAOptions::PreserveCFG)));
  llvm::FunctionPassManager atEnd;
  atEnd.addPass(llvm::LoopSimplifyPass()); // places before loops
  atEnd.addPass(FreezeInvariantsPass());
  return compileModule(module, *machine, llvm::CodeGenFileType::ObjectFile, object,
                       std::move(before), std::move(atEnd));
}

} // namespace tessera::codegen
