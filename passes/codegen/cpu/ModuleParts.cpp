#include "passes/codegen/cpu/ModuleParts.h"

#include "lib/process/OutOfMemory.h"

#include <utility>

namespace tessera::codegen {

ModuleParts::ModuleParts(size_t kernels, llvm::function_ref<void(llvm::Module &)> prepare)
    : parts_(kernels > 1 ? 2 : 1) {
  for (ModulePart &part : parts_) {
    part.module = std::make_unique<llvm::Module>("kernels", part.context);
    prepare(*part.module);
  }
}

static size_t instructionsOf(ModulePart &part) {
  llvm::Module::const_iterator next =
      part.counted ? std::next(part.counted->getIterator()) : std::as_const(*part.module).begin();
  for (; next != std::as_const(*part.module).end(); ++next) {
    part.instructions += next->getInstructionCount();
    part.counted = &*next;
  }
  return part.instructions;
}

llvm::Module &ModuleParts::shortest() {
  ModulePart *least = &parts_.front();
  for (ModulePart &part : parts_)
    if (instructionsOf(part) < instructionsOf(*least))
      least = &part;
  return *least->module;
}

std::string ModuleParts::compile(llvm::function_ref<std::string(ModulePart &)> compile,
                                 unsigned threads) {
  std::string first, second;
  auto both = [&] { first = compile(parts_.front()); };
  if (parts_.size() == 1) {
    both();
  } else if (threads > 1) {
    runBoth(both, [&] { second = compile(parts_.back()); });
  } else {
    both();
    second = compile(parts_.back());
  }
  return first.empty() ? second : first;
}

} // namespace tessera::codegen
