// LLVM modules to native code for one processor.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::codegen {

// The processor that code is for.
struct CpuTarget {
  std::string cpu;
  std::string features; // as LLVM writes them: +avx512f,-sse4a,..
  std::vector<std::string> enabled() const;
  VectorFeatures vectors() const;
  static CpuTarget host();
};

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
