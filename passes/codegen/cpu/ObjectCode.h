// LLVM modules to native code for one processor.
#pragma once

#include "passes/codegen/cpu/CpuTarget.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace tessera::codegen {

class ObjectCode {
public:
  explicit ObjectCode(const CpuTarget &target);
  void prepare(llvm::Module &module); // triple and data layout
  // Runs the light pipeline (no unrolling, no inlining) and code generation.
  bool compile(llvm::Module &module, llvm::SmallVectorImpl<char> &object);

private:
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace tessera::codegen
