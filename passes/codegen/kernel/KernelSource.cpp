#include "passes/codegen/kernel/KernelSource.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

int KernelSource::outputOf(mlir::Operation *op, unsigned result) const {
  for (auto [i, value] : llvm::enumerate(outputs()))
    if (value == op->getResult(result))
      return i;
  return -1;
}

int64_t KernelSource::sharedInput(unsigned output, mlir::Value value) const {
  int64_t input = inplaceOf(output);
  return input >= 0 && value == body->getArgument(input) ? input : -1;
}

KernelSource sourceOf(exec::KernelOp kernel) {
  KernelSource source{kernel.getSymName().str(), kernel.getBlock(), {}};
  for (unsigned i = 0; i < kernel.getOutputTypes().size(); ++i)
    source.inplace.push_back(kernel.inplaceOperand(i));
  source.mostScratch = static_cast<int64_t>(kernel.getMostScratch().value_or(0));
  source.strands = static_cast<int64_t>(kernel.getStrands().value_or(1));
  return source;
}

bool KernelSource::sharesBuffers() const {
  return llvm::any_of(inplace, [](int64_t input) { return input >= 0; });
}

} // namespace tessera::codegen
