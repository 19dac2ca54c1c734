#ifndef TESSERA_COMMUNICATE_PASSES
#define TESSERA_COMMUNICATE_PASSES

include "mlir/Pass/PassBase.td"

def FoldCollectives : Pass<"tessera-fold-collectives", "::mlir::ModuleOp"> {
  let summary = "Replaces pairs of collectives by one or none: all-reduce and slice become a reduce-scatter, a slice of an all-gather nothing.";
  let description = [{
    ```mlir
    %r = comm.all_reduce sum(%x) over A
    %0 = comm.slice %r dim 0 over A                    // the sole use of %r

    %g = comm.all_gather(%y) dim 0 over A
    %1 = comm.slice %g dim 0 over A

    %s = comm.reduce_scatter sum(%z) dim 0 over A
    %2 = comm.all_gather(%s) dim 0 over A
    ```
    becomes
    ```mlir
    %0 = comm.reduce_scatter sum(%x) dim 0 over A
    // uses of %1 use %y
    %2 = comm.all_reduce sum(%z) over A
    ```
    A collective over one device is its operand.
  }];
}

def MergeReductions : Pass<"tessera-merge-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduces a sum of values across devices once instead of each of its terms.";
  let description = [{
    ```mlir
    %a = comm.all_reduce sum(%x) over A
    %b = comm.all_reduce sum(%y) over A
    %c = stablehlo.add %a, %b
    ```
    becomes
    ```mlir
    %s = stablehlo.add %x, %y
    %c = comm.all_reduce sum(%s) over A
    ```
    likewise for reduce_scatter, where nobody else uses %a and %b. Likewise maximum with max, minimum with min. Sums of 16-bit floats stay apart: each device would round its part of a sum that is rounded once.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def NarrowCollectives : Pass<"tessera-narrow-collectives", "::mlir::ModuleOp"> {
  let summary = "Moves values in the narrower of the types that they have before and after a conversion.";
  let description = [{
    ```mlir
    %g = comm.all_gather(%x) dim 0 over A : tensor<2xf32> -> tensor<8xf32>
    %b = stablehlo.convert %g : (tensor<8xf32>) -> tensor<8xbf16>
    ```
    becomes
    ```mlir
    %n = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xbf16>
    %b = comm.all_gather(%n) dim 0 over A : tensor<2xbf16> -> tensor<8xbf16>
    ```
    where all uses are the same conversion; and what was widened before it moves is moved first and widened then. Reductions stay: they would add in another precision.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def HoistCollectives : Pass<"tessera-hoist-collectives", "::mlir::ModuleOp"> {
  let summary = "Moves collectives whose operands do not change in a loop to before the loop.";
  let description = [{
    ```mlir
    %r:2 = stablehlo.while(%w = %0, %x = %1)
      do {
        %g = comm.all_gather(%w) dim 0 over A
        ..
        stablehlo.return %w, %next
      }
    ```
    becomes
    ```mlir
    %g = comm.all_gather(%0) dim 0 over A
    %r:2 = stablehlo.while(%w = %0, %x = %1)
      do {
        ..
        stablehlo.return %w, %next
      }
    ```
    Only in loops that are known to run, and only while the hoisted values stay small beside what the loop carries.
  }];
}

def BucketCollectives : Pass<"tessera-bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "Puts small reductions over the same devices into one message.";
  let description = [{
    ```mlir
    %a = comm.all_reduce sum(%x) over A
    ..
    %b = comm.all_reduce sum(%y) over A
    ```
    becomes, where nothing between needs %a,
    ```mlir
    ..
    %a, %b = comm.all_reduce sum(%x, %y) over A
    ```
    In a block, a bucket takes small reductions of one kind, group and element type, whose time is mostly latency, until something needs a result.
  }];
}

def VerifyCommunicate : Pass<"tessera-verify-communicate", "::mlir::ModuleOp"> {
  let summary = "Refuses collectives over axes that the mesh does not have, or over groups of one device.";
  let description = [{
    ```mlir
    sdy.mesh @mesh = <["data"=2]>
    %0 = comm.all_reduce sum(%x) over <@mesh, ["data"=3]>
    ```
    is refused: every collective names axes that the mesh has, with its sizes, and more than one device.
  }];
}

#endif
