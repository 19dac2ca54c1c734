// The phase *localize*: from a program on global values to the program of one device.
#pragma once

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace tessera {

#define GEN_PASS_DECL
#include "passes/localize/Passes.h.inc"

void buildLocalizePipeline(mlir::OpPassManager &pm);
void registerLocalizePasses(); // and the pipeline tessera-localize

} // namespace tessera
