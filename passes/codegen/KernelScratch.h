// What kernels need beside arrays, before there is code for them.
#pragma once

#include "dialects/tessera/TesseraDialect.h"
#include "passes/codegen/kernel/KernelKey.h"

#include <map>

namespace tessera::codegen {

// Bytes of scratch by kernel, of equal ones once: kernels are written as for their code, which is then
// not made. The kernels' context must outlive it.
class KernelScratch {
public:
  // Of kernels for a target, in order. Where a kernel cannot be compiled, nothing.
  std::vector<int64_t> of(llvm::ArrayRef<KernelSource> kernels, TargetAttr target);
  // Gives each kernel of a module its `scratch_bytes`, as the codegen phase will.
  void describe(mlir::ModuleOp module);
  // Before kernels are outlined: marks each exec.fused with what it needs; with as little as it can do
  // with, where the schedule bounds scratch.
  void describeFused(mlir::ModuleOp module);

private:
  std::map<KernelKey, int64_t> known;
};

} // namespace tessera::codegen
