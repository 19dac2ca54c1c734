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
    Only in loops that are known to run, and only while the hoisted values take half of what the loop carries, or 1 MiB.
  }];
}

def ReduceInLoops : Pass<"tessera-reduce-in-loops", "::mlir::ModuleOp"> {
  let summary = "Reduces what a loop stacks in each of its trips, beside what the next ones compute.";
  let description = [{
    ```mlir
    %r:3 = stablehlo.while(%i = %0, %x = %a, %stack = %zeros)
      do {
        ..
        %s = stablehlo.dynamic_update_slice %stack, %gradient, %i, %0
        stablehlo.return %next, %y, %s
      }
    %g = comm.all_reduce sum(%r#2) over A
    ```
    becomes
    ```mlir
    %r:3 = stablehlo.while(%i = %0, %x = %a, %stack = %zeros)
      do {
        ..
        %g = comm.all_reduce sum(%gradient) over A
        %s = stablehlo.dynamic_update_slice %stack, %g, %i, %0
        stablehlo.return %next, %y, %s
      }
    ```
    likewise for reduce_scatter along what each update has as a whole. Where a trip computes for as long as its part takes on the links, more messages take no more than a twentieth of the time, and `tessera.schedule` allows overlap. Behind the loop nothing could hide them.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
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

def RingProducts : Pass<"tessera-ring-products", "::mlir::ModuleOp"> {
  let summary = "Multiplies the shards of a gathered operand, or makes those of a scattered sum, while others travel.";
  let description = [{
    ```mlir
    %g = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<8x64xf32>) -> tensor<32x64xf32>
    %y = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0]
    ```
    becomes
    ```mlir
    %0 = comm.axis_index over <@mesh, ["x"=4]>
    %1 = stablehlo.multiply %0, %c8                                   // where my shard's rows begin
    %2:4 = stablehlo.while(%i = %c0, %at = %1, %shard = %x, %y = %zeros)  {tessera.trip_count = #tessera.trip_count<3>}
      do {
        %next = comm.shift(%shard) by 1 wrap over <@mesh, ["x"=4]>    // while this one is multiplied
        %p = stablehlo.dot_general %shard, %w, contracting_dims = [1] x [0]
        %z = stablehlo.dynamic_update_slice %y, %p, %at, %c0
        ..
        stablehlo.return %i1, %before, %next, %z                      // 8 rows before, modulo 32
      }
    %p = stablehlo.dot_general %2#2, %w, contracting_dims = [1] x [0]
    %y = stablehlo.dynamic_update_slice %2#3, %p, %2#1, %c0
    ```
    and a product whose sum over devices is scattered likewise: sums travel, and each device adds its term; or parts of another dimension are scattered, each as a whole, while the next is multiplied. All products of one gathered value share the loop. Only where `lib/cost/RingProduct.h` says that it is quicker, with what else could run beside the collective.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::comm::CommDialect"];
}

def CarryInParts : Pass<"tessera-carry-in-parts", "::mlir::ModuleOp"> {
  let summary = "Computes what a loop hands to the next device in parts, each of which travels while the next is multiplied.";
  let description = [{
    ```mlir
    %r = stablehlo.while(%x = %a)
      do { %s = comm.shift(%x) by 1 wrap over A; %h = f(%s); %y = stablehlo.dot_general %h, %w, ..; return %y }
    ```
    becomes
    ```mlir
    %r:2 = stablehlo.while(%x0 = %a0, %x1 = %a1)
      do {
        %s0 = comm.shift(%x0) by 1 wrap over A
        %s1 = comm.shift(%x1) by 1 wrap over A
        %h = f(concatenate(%s0, %s1))
        %y0 = stablehlo.dot_general %h, %w[half 0]
        %y1 = stablehlo.dot_general %h, %w[half 1]
        return %y0, %y1
      }
    ```
    Stages of a pipeline have nothing else to compute while a micro-batch travels. *order* lets trips begin behind the shifts, so that %y0 travels while %y1 is multiplied. Only where `lib/cost/RingProduct.h` says that it is quicker. The bits are the same.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::comm::CommDialect"];
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
