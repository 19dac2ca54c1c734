// What compile reports of a program: docs/command-line.md.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace tessera {

// {"devices", "collectives", "memory", "flops"} of the module's exec.program; only "devices" when
// it has none yet.
llvm::json::Object reportProgram(mlir::ModuleOp module, int64_t devices);

} // namespace tessera
