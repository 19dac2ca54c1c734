// The code of all kernels for one processor, as an op of the module.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/Marks.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::codegen {

exec::ImageOp addImage(mlir::ModuleOp module, TargetAttr target, ProcessorAttr processor,
                       llvm::ArrayRef<char> code);

} // namespace tessera::codegen
