// Which outputs of a kernel share their loops.
#pragma once

#include "passes/codegen/kernel/KernelSource.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tessera::codegen {

// Outputs that share their loops: those of one shape; of one size too when some overwrite what
// others may still read.
llvm::SmallVector<llvm::SmallVector<unsigned>> outputNests(const KernelSource &kernel,
                                                           llvm::ArrayRef<unsigned> outputs);
// The input that `output` is a dynamic_update_slice of, if it may share its buffer.
std::optional<int64_t> updatedInput(const KernelSource &kernel, unsigned output);

// `emit` writes one nest. Of an output that may share the buffer of what it updates there are two:
// of what is updated where it does, and of all where it doesn't, as the function tells at run time.
template <class Function>
bool emitNests(Function &function, llvm::ArrayRef<unsigned> outputs,
               llvm::function_ref<bool(llvm::ArrayRef<unsigned> nest, bool update)> emit) {
  bool ok = true;
  llvm::SmallVector<unsigned> whole;
  for (unsigned output : outputs) {
    std::optional<int64_t> input = updatedInput(function.kernel, output);
    if (!input) {
      whole.push_back(output);
      continue;
    }
    function.ifSameBuffer(
        function.buffers[*input], function.outputBuffer(output),
        [&] { ok &= emit(output, /*update=*/true); },
        [&] { ok &= ok && emit(output, /*update=*/false); });
  }
  for (const auto &nest : outputNests(function.kernel, whole))
    ok = ok && emit(nest, /*update=*/false);
  return ok;
}

} // namespace tessera::codegen
