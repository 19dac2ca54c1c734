// The shapes that a program with dynamic arguments is compiled for, as the command line gives them.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace tessera {

// Notes `text` on the arguments of @main, where import finds it: `in0:8x128xf32,in1:4` gives argument
// 0 the shape [8, 128] and argument 1 the shape [4]. The element type may be left out; a scalar is
// `in2:`. Says what is wrong where the text or a shape does not fit.
llvm::LogicalResult noteInputShapes(mlir::ModuleOp module, llvm::StringRef text);

} // namespace tessera
