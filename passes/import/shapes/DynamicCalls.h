// Custom calls by which frontends write what StableHLO has no dynamic operation for.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera {

/// A shape assertion, a `stablehlo.dynamic_*` call, or a call with operands that are shapes.
bool isDynamicCall(mlir::Operation *op);

/// Writes such a call as an operation, or drops an assertion that holds. Whether it did; failure
/// for an assertion that does not hold, and for operands that are no constants.
mlir::FailureOr<bool> rewriteDynamicCall(tessera::stablehlo::CustomCallOp call);

} // namespace tessera
