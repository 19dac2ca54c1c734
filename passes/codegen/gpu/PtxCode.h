// Modules of LLVM IR as PTX, by LLVM's NVPTX target in this process: no CUDA is needed.
#pragma once

#include "lib/target/Target.h"
#include "passes/codegen/cpu/ModuleParts.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace tessera::codegen::gpu {

class PtxCode {
public:
  explicit PtxCode(const target::Processor &architecture);
  void prepare(llvm::Module &module); // before anything is written into it
  // Nothing, or why there is no code.
  std::string compile(llvm::Module &module, llvm::SmallVectorImpl<char> &text);

private:
  std::unique_ptr<llvm::TargetMachine> machine;
};

// The parts' kernels as one text. Nothing, or why there is none.
std::string compileParts(ModuleParts &parts, const target::Processor &architecture,
                         llvm::SmallVectorImpl<char> &text);

} // namespace tessera::codegen::gpu
