#ifndef TESSERA_LOCALIZE_PASSES
#define TESSERA_LOCALIZE_PASSES

include "mlir/Pass/PassBase.td"

def LocalizeProgram : Pass<"tessera-localize-program", "::mlir::ModuleOp"> {
  let summary = "Rewrites a program on whole arrays into the program that each device runs on its own parts.";
  let description = [{
    ```mlir
    func.func @main(%x: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {} ]>}) -> tensor<8xf32> {
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : ..      // unreduced={"x"}
      %1 = sdy.reshard %0 <@mesh, [{} ]> : tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    ```
    becomes, with "x"=4,
    ```mlir
    func.func @main(%x: tensor<3x8xf32> {sdy.sharding = .., tessera.global = tensor<10x8xf32>}) -> tensor<8xf32> {
      %m = stablehlo.select %row_below_10, %x, %zero : tensor<3x8xi1>, tensor<3x8xf32>
      %0 = stablehlo.reduce(%m init: %c) applies stablehlo.add across dimensions = [0] : (tensor<3x8xf32>, tensor<f32>) -> tensor<8xf32>
      %1 = comm.all_reduce sum(%0) over <@mesh, ["x"=4]> : tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    ```
    Values are visited in program order; each gets a local layout (axes and tile a dimension), each op the local form that its family's file gives it.
  }];
  let dependentDialects = ["::tessera::comm::CommDialect", "::tessera::stablehlo::StablehloDialect"];
}

def VerifyLocalize : Pass<"tessera-verify-localize", "::mlir::ModuleOp"> {
  let summary = "Refuses a program that still speaks of shardings or of whole arrays after localize.";
  let description = [{
    ```mlir
    %0 = sdy.reshard %x <@mesh, [{} ]> : tensor<8xf32>
    ```
    is refused: no op or attribute of a sharding is left but on `@main`'s signature, and types are local, of known shape, and of at most 16 TiB.
  }];
}

def CommToStablehlo : Pass<"tessera-comm-to-stablehlo", "::mlir::ModuleOp"> {
  let summary = "For tests: turns collectives by mesh axes into StableHLO's, by lists of replicas, so that other compilers can run a localized program.";
  let description = [{
    ```mlir
    %0 = comm.all_gather(%x) dim 0 over <@mesh, ["y"=2]> : ..                    // @mesh: x=2, y=2
    ```
    becomes
    ```mlir
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : ..
    ```
    `axis_index` is arithmetic on `replica_id`; permute and shift are `collective_permute` with pairs of devices.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

#endif
