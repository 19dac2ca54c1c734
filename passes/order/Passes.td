// The order phase: one total order, with collectives running beside compute.
#ifndef TESSERA_PASSES_ORDER
#define TESSERA_PASSES_ORDER

include "mlir/Pass/PassBase.td"

def OverlapCollectives : Pass<"tessera-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "Splits each collective into a start, as early as its operand allows, and a wait, as late as pays.";
  let description = [{
    ```mlir
    %k = exec.fused(..)
    %g = comm.all_gather(%k) dim 0 over A
    %u = exec.fused(.. %g ..)
    %v = exec.fused(..)                          // needs no %g
    ```
    becomes
    ```mlir
    %k = exec.fused(..)
    %r, %h = comm.start all_gather(%k) dim 0 over A
    %v = exec.fused(..)
    %g = comm.wait %h (%r)
    %u = exec.fused(.. %g ..)
    ```
    Every block is ordered, by the latency model. Views and constants cost nothing and follow whoever reads them.
  }];
  let dependentDialects = ["::tessera::comm::CommDialect"];
}

def VerifyOrder : Pass<"tessera-verify-order", "::mlir::ModuleOp"> {
  let summary = "Checks that every collective is a start with one wait in the same block.";
  let description = [{
    ```mlir
    %g = comm.all_gather(%k) dim 0 over A
    ```
    is refused: no collective but as start and wait, one wait for each start, in the same block.
  }];
}

#endif
