// Kernels to one shared object: int32_t symbol(const TesseraKernelArgs *, uint32_t, uint32_t) for
// each.
#pragma once

#include "passes/codegen/cpu/ObjectCode.h"
#include "passes/codegen/kernel/KernelSource.h"

#include <optional>
#include <vector>

namespace tessera::codegen {

struct CompiledKernels {
  std::vector<char> sharedObject;
  std::vector<KernelInfo> infos; // one a kernel, in order
};

// Empty when a kernel could not be compiled: an error was emitted at its operation, or `problem`
// says what is wrong with none in particular. Work is divided over up to `threads` threads; the
// result does not depend on how many.
std::optional<CompiledKernels> compileKernels(llvm::ArrayRef<KernelSource> kernels,
                                              const CpuTarget &target, std::string &problem,
                                              unsigned threads = 2);

// What kernels need, without their code: bytes of scratch, by kernel. Of one that cannot be compiled
// nothing, and no error.
std::vector<int64_t> scratchOf(llvm::ArrayRef<KernelSource> kernels, const CpuTarget &target);

} // namespace tessera::codegen
