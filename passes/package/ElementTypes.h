// MLIR's element types as the program format numbers them.
#pragma once

#include "include/tessera/program.pb.h"
#include "mlir/IR/Types.h"

namespace tessera {

// ELEMENT_INVALID for types that the format does not have.
program::ElementType elementTypeOf(mlir::Type type);

} // namespace tessera
