// The partial-value law (lib/sharding/PartialLaw.h) asked about an op.
#pragma once

#include "lib/sharding/PartialLaw.h"
#include "mlir/IR/Operation.h"

namespace tessera {

// Whether `op` commutes with reducing those operands for which `partial` is set.
bool carriesPartial(mlir::Operation *op, llvm::ArrayRef<bool> partial,
                    sharding::ReductionKind kind);

// Whether `value` is a constant, maybe broadcast, that may be combined with itself by `kind`.
bool isNeutral(mlir::Value value, sharding::ReductionKind kind);

} // namespace tessera
