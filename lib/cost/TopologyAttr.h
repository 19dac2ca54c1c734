// The topology as the module attribute `tessera.topology`.
#pragma once

#include "lib/cost/Topology.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::cost {

// Reads a dictionary; what is absent is as in defaultTopology():
//   {name = "pod", alpha = 1.0e-06, beta = 1.0e+11, flops = 1.0e+14, memory = 2.0e+12,
//    axes = {data = {alpha = 1.0e-05, beta = 1.0e+10}}}
mlir::FailureOr<Topology> topologyFromAttr(mlir::DictionaryAttr attr,
                                           llvm::function_ref<mlir::InFlightDiagnostic()> error);

// The module's `tessera.topology`, or the default when there is none or it is not a topology.
Topology topologyOf(mlir::ModuleOp module);

} // namespace tessera::cost
