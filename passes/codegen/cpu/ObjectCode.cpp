#include "passes/codegen/cpu/ObjectCode.h"

#include "passes/codegen/cpu/ModuleCode.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

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
  return compileModule(module, *machine, llvm::CodeGenFileType::ObjectFile, object);
}

} // namespace tessera::codegen
