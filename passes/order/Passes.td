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
    Every block is ordered, by the latency model and the rule that `tessera.schedule` names. Views and constants cost nothing and follow whoever reads them.

    A counted loop whose collectives would be waited for is rotated, so that those of one trip run beside the computation of another:
    ```mlir
    %r:2 = stablehlo.while(%i = %0, %x = %a) attributes {tessera.trip_count = #tessera.trip_count<n>}
      do { %g = comm.all_gather(%w[%i]); %y = f(%x, %g); %j = %i + 1; return %j, %y }
    ```
    becomes, where that pays,
    ```mlir
    %g0 = comm.all_gather(%w[%0])
    %r:3 = stablehlo.while(%i = %1, %x = %a, %g = %g0) attributes {tessera.trip_count = #tessera.trip_count<n-1>}
      do { %h = comm.all_gather(%w[%i]); %y = f(%x, %g); %j = %i + 1; return %j, %y, %h }
    %y = f(%r#1, %r#2)
    ```
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
