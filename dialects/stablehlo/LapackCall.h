// Custom calls of LAPACK's functions.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "include/tessera/library.h"

namespace tessera::stablehlo {

// By its name, `lapack_<function>_ffi`.
bool isLapackCall(CustomCallOp op);
// Fails, with a diagnostic, on what is not called as JAX calls it.
mlir::FailureOr<LibraryCall> lapackCall(CustomCallOp op);

// The product of all dimensions but the last `inner`.
int64_t batchOf(mlir::RankedTensorType type, size_t inner);
// f32, f64 or a complex type of those.
std::optional<library::Element> libraryElement(mlir::Type type);
// A call of a function with so much scratch and work, whose problems are divided over the grid.
LibraryCall libraryCall(library::Call call, int64_t grid, int64_t scratchBytes, double flops);

} // namespace tessera::stablehlo
