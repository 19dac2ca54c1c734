// The order phase: one total order, with collectives running beside compute.
#ifndef TESSERA_PASSES_ORDER
#define TESSERA_PASSES_ORDER

include "mlir/Pass/PassBase.td"

def OverlapCollectives : Pass<"tessera-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "Split each collective into a start, as early as its operand allows, and a wait, as late as pays.";
  let dependentDialects = ["::tessera::comm::CommDialect"];
}

def VerifyOrder : Pass<"tessera-verify-order", "::mlir::ModuleOp"> {
  let summary = "Check that every collective is a start with one wait in the same block.";
}

#endif
