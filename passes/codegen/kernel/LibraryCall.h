// Kernels that the runtime brings: what of a module's operations they compute, and with which
// numbers (include/tessera/library.h).
#pragma once

#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "include/tessera/library.h"
#include "passes/codegen/kernel/KernelSource.h"

namespace tessera::codegen {

struct LibraryCall {
  library::Call call;
  KernelInfo info;
};

// The operation of a kernel's body that no code is generated for; null when there is none.
mlir::Operation *libraryOperation(mlir::Block &body);
// Fails, with a diagnostic, on what no library computes.
mlir::FailureOr<LibraryCall> libraryCall(exec::KernelOp kernel, mlir::Operation *op);
// Of a custom call of one of LAPACK's functions.
mlir::FailureOr<LibraryCall> lapackCall(stablehlo::CustomCallOp op);

// The product of all dimensions but the last `inner`.
int64_t batchOf(mlir::RankedTensorType type, size_t inner);
// f32, f64 or a complex type of those.
std::optional<library::Element> libraryElement(mlir::Type type);

} // namespace tessera::codegen
