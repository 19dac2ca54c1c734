// The passes of the reshard phase.
include "mlir/Pass/PassBase.td"

def ShowShardingRules : Pass<"tessera-show-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "Writes the sharding rule of each op on it, for reading and for tests";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}
