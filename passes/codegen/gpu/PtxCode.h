// A module of LLVM IR as PTX, by LLVM's NVPTX target in this process: no CUDA is needed.
#pragma once

#include "lib/target/Target.h"
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

} // namespace tessera::codegen::gpu
