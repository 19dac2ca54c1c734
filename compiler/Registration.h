// All that Tessera adds to MLIR, in one call each.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tessera {

void registerDialects(mlir::DialectRegistry &registry);
void registerPasses(); // every pass, and every phase as the pipeline --tessera-<phase>
// The phases in the order of the road, then all passes that are registered, as lines of a help.
void printPasses();

} // namespace tessera
