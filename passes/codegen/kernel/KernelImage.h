// The code of all kernels for one processor, as an op of the module.
#pragma once

#include "dialects/tessera/Marks.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::codegen {

// `threads`: of a block of each kernel, where the processor has such.
void addImage(mlir::ModuleOp module, TargetAttr target, ProcessorAttr processor,
              llvm::ArrayRef<char> code, llvm::ArrayRef<int64_t> threads = {});

} // namespace tessera::codegen
