// The propagate phase: every value gets a sharding.
#ifndef TESSERA_PASSES_PROPAGATE
#define TESSERA_PASSES_PROPAGATE

include "mlir/Pass/PassBase.td"

def NormalizeShardings : Pass<"tessera-normalize-shardings", "::mlir::ModuleOp"> {
  let summary = "Writes annotations in one way: meshes by name, no axes of size 1, every manual axis mentioned.";
  let description = [{
    ```mlir
    sdy.mesh @mesh = <["x"=2, "one"=1]>
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"one"}, {?} ]>] .. manual_axes={"x", "one"} ..
    ```
    becomes
    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}, {?} ], replicated={"x"}>] .. manual_axes={"x"} ..
    ```
    Meshes that are written inline or twice become references to one `sdy.mesh`. Of meshes of several sizes the largest comes first: it says how many devices the program has. Arguments and results of the program are whole values: what their annotations leave unreduced is dropped, with a warning.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def SplitConstants : Pass<"tessera-split-constants", "::mlir::ModuleOp"> {
  let summary = "Gives each use of a constant expression its own copy, so that uses need not be sharded alike.";
  let description = [{
    ```mlir
    %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
    %1 = stablehlo.add %x, %0 : tensor<8xf32>
    %2 = stablehlo.add %y, %0 : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
    %1 = stablehlo.add %x, %0 : tensor<8xf32>
    %3 = stablehlo.constant dense<0.0> : tensor<8xf32>
    %2 = stablehlo.add %y, %3 : tensor<8xf32>
    ```
    Two operands of one op (a loop's zeros, say) included. A propagation barrier of a constant is part of the expression; a sharding group of one holds all its copies. Scalars are shared: nothing shards them.
  }];
}

def ApplyConstraints : Pass<"tessera-apply-constraints", "::mlir::ModuleOp"> {
  let summary = "Gives a value the sharding that a constraint on it demands.";
  let description = [{
    ```mlir
    %1 = stablehlo.add %0, %0 : tensor<8x4xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {} ]> : tensor<8x4xf32>
    ```
    becomes
    ```mlir
    %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ]>]>} : tensor<8x4xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {} ]> : tensor<8x4xf32>
    ```
    where %1 has no sharding of its own and nothing else demands one: openness doesn't propagate, so that the constraint alone would not keep other axes out. A loop's or branch's value is shared by many; there the uses after the constraint go to its result instead. The same holds for uses after a chain of constraints on a value.
  }];
}

def CheckGroups : Pass<"tessera-check-groups", "::mlir::ModuleOp"> {
  let summary = "Takes values out of sharding groups whose other members are annotated otherwise.";
  let description = [{
    ```mlir
    %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ]>]>} : tensor<4x4xf32>
    sdy.sharding_group %0 group_id=0 : tensor<4x4xf32>
    %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"} ]>]>} : tensor<4x4xf32>
    sdy.sharding_group %1 group_id=0 : tensor<4x4xf32>
    ```
    The two cannot be sharded alike: `%1` stays as it is annotated and leaves the group, with a warning. `[{"x", ?}, {?} ]` and `[{?}, {"y"} ]` can: propagation gives both `[{"x", ?}, {"y"} ]`. Members of different ranks, or of different manual computations, where different axes are left, are errors; with `refuses` all that contradicts is, as plans hold what annotations say.
  }];
  let options = [Option<"refuses", "refuses", "bool", /*default=*/"false",
                        "annotations that contradict each other are an error">];
}

def PropagateShardings : Pass<"tessera-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "Extends the annotations to all values, along the sharding rules of ops.";
  let description = [{
    ```mlir
    func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?} ]>}, %w: tensor<16x4xf32>) {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ..
    ```
    becomes
    ```mlir
    func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?} ]>}, %w: tensor<16x4xf32>) {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?} ]>]>} : ..
    ```
    Dimensions stay open where they were; `--tessera-finalize-shardings` closes them. How conflicts are decided: docs/propagation.md.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect", "::tessera::stablehlo::StablehloDialect", "::tessera::comm::CommDialect", "::tessera::exec::ExecDialect", "::tessera::TesseraDialect"]; // of the phases that are tried
  let options = [Option<"recordOrigins", "record-origins", "bool", /*default=*/"false",
                        "note on every op where its axes came from (tessera.origin)">,
                 Option<"bySize", "by-size", "bool", /*default=*/"false",
                        "let the larger tensor decide conflicts, as Shardy does, not the predicted time">,
                 Option<"largeFrom", "large-from", "unsigned", /*default=*/"2000",
                        "ops of a program of which ways that differ in little are compared where they differ">];
}

def MergeConstants : Pass<"tessera-merge-constants", "::mlir::ModuleOp"> {
  let summary = "Merges the copies of constant expressions that ended with the same sharding.";
  let description = [{
    ```mlir
    %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} dense<0.0> : tensor<8xf32>
    %1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} dense<0.0> : tensor<8xf32>
    %2 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{} ]>]>} dense<0.0> : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} dense<0.0> : tensor<8xf32>
    // uses of %1 use %0
    %2 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{} ]>]>} dense<0.0> : tensor<8xf32>
    ```
    The reverse of `--tessera-split-constants`. Copies that nothing uses any more (what used them was a constraint or a group) go.
  }];
}

def FinalizeShardings : Pass<"tessera-finalize-shardings", "::mlir::ModuleOp"> {
  let summary = "Closes all shardings, turns constraints into reshards, and keeps inputs and outputs evenly sharded.";
  let description = [{
    ```mlir
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {?} ]> : tensor<8x4xf32>
    %2 = stablehlo.tanh %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?} ]>]>} : tensor<8x4xf32>
    ```
    becomes
    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {} ]> : tensor<8x4xf32>
    %2 = stablehlo.tanh %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ]>]>} : tensor<8x4xf32>
    ```
    A value that nothing reached is replicated. A collective on global values (`sdy.all_gather`) becomes a reshard, too: it names one way to its sharding, and localize takes the shortest. An argument that a constraint makes unreduced becomes so behind the program's boundary, where one device of each group keeps it.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def VerifyPropagate : Pass<"tessera-verify-propagate", "::mlir::ModuleOp"> {
  let summary = "Checks that every value has a closed sharding and that carried values agree.";
  let description = [{
    ```mlir
    %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?} ]>]>} : tensor<8xf32>
    ```
    is refused: its dimension is still open. Every tensor has a sharding on a mesh of the module, with closed dimensions; none at the program's boundary is unreduced; nothing is left that only speaks to propagation. Attributes that no phase reads are refused, too, but `with-foreign-attributes`.
  }];
  let options = [Option<"withForeignAttributes", "with-foreign-attributes", "bool", "false", "Lets attributes be that no phase reads: those of a program that has not been imported">];
}

def PrintShardingOrigins : Pass<"tessera-print-sharding-origins", "::mlir::ModuleOp"> {
  let summary = "Propagates, and prints for every value which annotation its axes came from, through which ops.";
  let description = [{
    Prints, and leaves the module as it is:
    ```
    <stdin>:4:8: stablehlo.dot_general: "data" from argument 0, through 2 ops
    ```
    Run it where `--tessera-propagate-shardings` would run.
  }];
}

#endif
