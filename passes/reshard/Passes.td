// The passes of the reshard phase.
include "mlir/Pass/PassBase.td"

def ShowShardingRules : Pass<"tessera-show-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "Writes the sharding rule of each op on it, for reading and for tests.";
  let description = [{
    ```mlir
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```
    becomes
    ```mlir
    %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding_rule = #sdy.op_sharding_rule<([j, i])->([i, j]) {i=8, j=4}>}
        : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```
    For reading and tests only: an attribute overrides the op's own rule from then on.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def UnifyMeshes : Pass<"tessera-unify-meshes", "::mlir::ModuleOp"> {
  let summary = "Writes all shardings with the axes of the module's first mesh.";
  let description = [{
    ```mlir
    sdy.mesh @a = <["x"=2, "y"=4]>
    sdy.mesh @b = <["p"=4, "q"=2]>
    %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@b, [{"p"}, {"q"} ]>]>} : tensor<8x8xf32>
    ```
    becomes
    ```mlir
    sdy.mesh @a = <["x"=2, "y"=4]>
    %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@a, [{"x", "y":(1)2}, {"y":(2)2} ]>]>} : tensor<8x8xf32>
    ```
    A mesh may have fewer devices than the first: those beyond it repeat what lies on it. Where a manual computation is manual in what would be a part of an axis, the first mesh gets that part as an axis. After propagation, as Shardy has it: shardings on different meshes do not flow into each other.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def SplitReductions : Pass<"tessera-split-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduces shards first where a region that is of no kind reduces several dimensions.";
  let description = [{
    ```mlir
    // %x: [{"y"}, {"x"} ], "x"=4; the reducer is of no kind
    %r = stablehlo.reduce(%x init: %z) across dimensions = [0, 1] : (tensor<8x100xf32>, tensor<f32>) -> tensor<f32>
    ```
    becomes
    ```mlir
    %s = stablehlo.reshape %x : (tensor<8x100xf32>) -> tensor<8x4x25xf32>                          // [{"y"}, {"x"}, {} ]
    %p = stablehlo.reduce(%s init: %z) across dimensions = [2] : .. -> tensor<8x4xf32>             // one element a shard
    %q = sdy.reshard %p <@mesh, [{"y", "x"}, {} ]> : tensor<8x4xf32>                                // whichever is cheapest
    %r = stablehlo.reduce(%q init: %z) across dimensions = [0, 1] : .. -> tensor<f32>
    ```
    Shards are reduced innermost dimension first, so that the order of the elements stays. Rows that fill up the last shard are start values, which the specification allows anywhere, any number of times.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def SelectFirstRows : Pass<"tessera-select-first-rows", "::mlir::ModuleOp"> {
  let summary = "Gathers only the first rows of each shard for the first rows of a sort along a sharded dimension.";
  let description = [{
    ```mlir
    %s = "stablehlo.sort"(%x) .. : (tensor<1024xf32>) -> tensor<1024xf32>      // [{"x"} ], "x"=8
    %r = stablehlo.slice %s [0:4] : (tensor<1024xf32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %1 = stablehlo.reshape %x : (tensor<1024xf32>) -> tensor<8x128xf32>        // [{"x"}, {} ]
    %2 = "stablehlo.sort"(%1) .. dimension = 1
    %3 = stablehlo.slice %2 [0:8, 0:4] : (tensor<8x128xf32>) -> tensor<8x4xf32>
    %4 = sdy.reshard %3 <@mesh, [{}, {} ]> : tensor<8x4xf32>
    %5 = "stablehlo.sort"(%4 as tensor<32xf32>) ..
    %r = stablehlo.slice %5 [0:4] : (tensor<32xf32>) -> tensor<4xf32>
    ```
    where that sends less, and takes less time, than the cheapest way by the sort's rule. Equal elements keep their order: the first sort is stable, and so is the second, of shards in theirs.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def DistributeSorts : Pass<"tessera-distribute-sorts", "::mlir::ModuleOp"> {
  let summary = "Sorts along sharded dimensions by column sorts, where that is cheaper than gathering them.";
  let description = [{
    ```mlir
    %s = "stablehlo.sort"(%x) .. : (tensor<nxf32>) -> tensor<nxf32>     // [{"x"} ], "x"=p; n = p * r, r = p * t
    ```
    becomes
    ```mlir
    %1 = "stablehlo.sort"(%x as p x r) .. dimension = 1                 // [{"x"}, {} ]
    %2 = sdy.reshard %1 as p x t x p <@mesh, [{}, {}, {"x"} ]>           // row q goes to shard q mod p
    %3 = "stablehlo.sort"(%2) ..                                        // all rows of a shard
    %4 = sdy.reshard %3 as p x p x t <@mesh, [{}, {"x"}, {} ]>
    %5 = "stablehlo.sort"(%4) ..                                        // all rows of a shard
    %s = ..                                                             // the rows about the boundaries of shards sorted
    ```
    where that sends less, and takes less time, than the cheapest way by the sort's rule: to gather all rows, or to shard another dimension meanwhile. A column sort (lib/sharding/ColumnSort.h): each element moves twice. Equal elements keep their order by a number, their shard and their place in %1, which need not be sent.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def DistributeFfts : Pass<"tessera-distribute-ffts", "::mlir::ModuleOp"> {
  let summary = "Fourier transforms along sharded dimensions in four steps, or dimension by dimension, where that is cheaper than gathering them.";
  let description = [{
    ```mlir
    %y = stablehlo.fft %x, type = FFT, length = [64] : (tensor<64xcomplex<f32>>) -> tensor<64xcomplex<f32>>    // [{"x"} ], "x"=4
    ```
    becomes
    ```mlir
    %1 = sdy.reshard (%x as 4x16) <@mesh, [{}, {"x"} ]>
    %2 = stablehlo.fft %1 .. length = [4]                     // of each column; times roots of 1
    %3 = sdy.reshard %2 <@mesh, [{"x"}, {} ]>
    %4 = stablehlo.fft %3 .. length = [16]
    %y = sdy.reshard (%4 transposed) <@mesh, [{"x"} ]>
    ```
    where that takes less time and sends no more than gathering %x or sharding another dimension meanwhile. A transform of several dimensions, of which some are sharded, goes dimension by dimension, the sharded ones last.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def InsertReshards : Pass<"tessera-insert-reshards", "::mlir::ModuleOp"> {
  let summary = "Chooses the axes along which each operation is computed and inserts the reshards that this needs.";
  let description = [{
    ```mlir
    // %0: 8x16 [{"x"}, {} ], %1: 16x32 [{"y"}, {} ]
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ]>]>} : ..
    ```
    becomes, where gathering the weight is cheapest,
    ```mlir
    %w = sdy.reshard %1 <@mesh, [{}, {} ]> : tensor<16x32xf32>
    %2 = stablehlo.dot_general %0, %w, .. {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ]>]>} : ..
    ```
    or else
    ```mlir
    %s = sdy.reshard %0 <@mesh, [{"x"}, {"y"} ]> : tensor<8x16xf32>
    %p = stablehlo.dot_general %s, %1, .. {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ], unreduced={"y"}>]>} : ..
    %2 = sdy.reshard %p <@mesh, [{"x"}, {} ]> : tensor<8x32xf32>
    ```
    Afterwards operands and results of an op with a rule agree on the axes of each factor; a result that is partial is reduced by the reshard that follows it.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def ExplainReshards : Pass<"tessera-explain-reshards", "::mlir::ModuleOp"> {
  let summary = "Says of every reshard what it moves and how many bytes a device sends for it.";
  let description = [{
    A remark at the user's location for each reshard, and the sum for the module; nothing is changed:
    ```
    model.py:12:8: remark: reshard [{"x"}, {} ] -> [{}, {} ] : tensor<64x32xf32>: all-gather, 3072 wire bytes, 12 trips
    ```
    Rows that cross shards inside of an op (halos) are not in it.
  }];
}

def DeferReductions : Pass<"tessera-defer-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduces partial values after the operations that commute with the reduction, where that is cheaper.";
  let description = [{
    ```mlir
    %a = sdy.reshard %p <@mesh, [{"x"}, {} ]> : tensor<8x4xf32>      // %p, %q: unreduced={"y"}
    %b = sdy.reshard %q <@mesh, [{"x"}, {} ]> : tensor<8x4xf32>
    %c = stablehlo.add %a, %b : tensor<8x4xf32>
    ```
    becomes
    ```mlir
    %s = stablehlo.add %p, %q : tensor<8x4xf32>                     // unreduced={"y"}
    %c = sdy.reshard %s <@mesh, [{"x"}, {} ]> : tensor<8x4xf32>      // one all-reduce
    ```
    Not where the op's result would be rounded to 16 bits: each device would round its part of a sum that is rounded once when it is made of reduced values. Behind loops, too: an accumulator that starts neutral, that each round only adds to (or writes a part of), and that nothing else reads, is carried partial and reduced once after the loop.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def ReshardBeforeBroadcasts : Pass<"tessera-reshard-before-broadcasts", "::mlir::ModuleOp"> {
  let summary = "Moves what a broadcast repeats instead of its result, where that sends less.";
  let description = [{
    ```mlir
    %b = stablehlo.broadcast_in_dim %x, dims = [0, 1] {[{}, {"x"} ]} : (tensor<1x8xf32>) -> tensor<64x8xf32>
    %r = sdy.reshard %b <@mesh, [{}, {} ]> : tensor<64x8xf32>
    ```
    becomes
    ```mlir
    %s = sdy.reshard %x <@mesh, [{}, {} ]> : tensor<1x8xf32>
    %r = stablehlo.broadcast_in_dim %s, dims = [0, 1] {[{}, {} ]} : (tensor<1x8xf32>) -> tensor<64x8xf32>
    ```
    Of biases, tables of positions that a batch shares, and keys that several heads share: those are often reshaped behind the broadcast (`jnp.repeat`), and the reshape, too, is made of the moved value where its rule can have that. A rule that the program gives an op (`sdy.sharding_rule`) holds. Other users of `%b` keep it: it is made twice then, of the same values.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def VerifyReshard : Pass<"tessera-verify-reshard", "::mlir::ModuleOp"> {
  let summary = "Checks that every operation can be computed on the shards that its operands have.";
  let description = [{
    ```mlir
    %2 = stablehlo.add %0, %1 : tensor<8x4xf32>                     // %0 [{"x"}, {} ], %1 [{}, {} ]
    ```
    is refused: its operands lie differently. Operands and results of an op with a sharding rule agree on the axes of each factor, those of other ops are whole; a partial operand goes into an op that commutes with its reduction, whose result is partial in the same way; carried values, branch results, function results and what enters a manual computation lie as annotated; what the program is given is whole.
  }];
}
