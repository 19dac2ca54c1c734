// portable: between StableHLO and the versioned form that portable artifacts hold.
#pragma once

#include "dialects/vhlo/Version.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
class ModuleOp;
}

namespace tessera {

#define GEN_PASS_DECL
#include "passes/portable/Passes.h.inc"

/// vhlo becomes StableHLO, in place. Errors are at the operations that cannot.
mlir::LogicalResult legalizeToStablehlo(mlir::ModuleOp module);
/// StableHLO and func become vhlo as `release` has it, in place.
mlir::LogicalResult legalizeToVhlo(mlir::ModuleOp module, vhlo::Version release);

void registerPortablePasses();

} // namespace tessera
