#ifndef TESSERA_PASSES_PORTABLE
#define TESSERA_PASSES_PORTABLE
include "mlir/Pass/PassBase.td"

def VhloToStablehlo : Pass<"tessera-vhlo-to-stablehlo", "mlir::ModuleOp"> {
  let summary = "Turns the operations of a portable artifact, of whatever release, into StableHLO's of today.";
  let description = [{
    ```mlir
    %1 = "vhlo.transpose_v1"(%0) <{permutation = #vhlo.tensor_v1<dense<[1, 0]> : tensor<2xi64>>}>
        : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x2x!vhlo.f32_v1>
    ```
    becomes
    ```mlir
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```
    An attribute that says no more than its absence goes, as every reader of artifacts has it; one that an old version lacks stays absent. Casts between versioned and plain types, which stand around operations of other dialects, go too.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::mlir::func::FuncDialect"];
}
def StablehloToVhlo : Pass<"tessera-stablehlo-to-vhlo", "mlir::ModuleOp"> {
  let summary = "Writes a program in the operations that a release of StableHLO reads, or says which of them it lacks.";
  let description = [{
    ```mlir
    %1 = stablehlo.exponential %0 : tensor<2xf32>
    ```
    becomes, for release 1.8.0,
    ```mlir
    %1 = "vhlo.exponential_v1"(%0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
    ```
    and an error where an operation, type or attribute needs a newer release. Every attribute is written, those that StableHLO leaves out by what their absence means. Operations of other dialects (sdy) stay as they are, with casts of their operands and results.
  }];
  let dependentDialects = ["::tessera::vhlo::VhloDialect"];
  let options = [Option<"version", "version", "std::string", "\"current\"", "The release, such as 1.13.0.">];
}
#endif
