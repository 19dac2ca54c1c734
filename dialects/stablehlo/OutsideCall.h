// Custom calls of functions that the process registers where the program runs.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::stablehlo {

// Fails, with a diagnostic, on what such a kernel cannot be asked to do.
mlir::FailureOr<LibraryCall> outsideCall(CustomCallOp op);

} // namespace tessera::stablehlo
