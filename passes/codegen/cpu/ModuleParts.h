// Kernels divided over two LLVM modules of about the same length, which are compiled side by side.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <list>
#include <memory>
#include <string>

namespace tessera::codegen {

struct ModulePart {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  llvm::SmallVector<char, 0> code;
  size_t instructions = 0;                 // of the functions
  const llvm::Function *counted = nullptr; // up to this one
};

// The parts don't depend on the number of threads.
class ModuleParts {
public:
  // Of no kernels, and of one, there is one part. `prepare` is called with each module.
  ModuleParts(size_t kernels, llvm::function_ref<void(llvm::Module &)> prepare);

  // What the next kernel goes into: that which has the fewest instructions. Functions stay where they are
  // from then on.
  llvm::Module &shortest();

  // Has `compile` make each part's code, on up to `threads` threads. Nothing, or the first part's
  // problem.
  std::string compile(llvm::function_ref<std::string(ModulePart &)> compile, unsigned threads = 2);

  std::list<ModulePart> &parts() { return parts_; }

private:
  std::list<ModulePart> parts_; // contexts stay where they are
};

} // namespace tessera::codegen
