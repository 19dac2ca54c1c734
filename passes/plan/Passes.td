// The plan phase: annotations that a search finds.
#ifndef TESSERA_PASSES_PLAN
#define TESSERA_PASSES_PLAN

include "mlir/Pass/PassBase.td"

def PlanShardings : Pass<"tessera-plan-shardings", "::mlir::ModuleOp"> {
  let summary = "Annotates an imported program with the shardings by which a step takes least time on a mesh.";
  let description = [{
    `--tessera-plan-shardings=mesh=x=8` of
    ```mlir
    func.func @main(%x: tensor<4096x64xf32>, %w: tensor<64x64xf32>) -> tensor<4096x64xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ..
      return %0 : tensor<4096x64xf32>
    }
    ```
    writes
    ```mlir
    sdy.mesh @mesh = <["x"=8]>
    func.func @main(%x: tensor<4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {} ]>}, %w: tensor<64x64xf32>)
        -> (tensor<4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {} ]>}) {
    ```
    and constraints where propagation would make something else of these than what was planned. Annotations that are there hold. `tessera plan` does this for several meshes, in the program as its author has it: docs/plan.md.
  }];
  let options = [Option<"mesh", "mesh", "std::string", "\"\"", "the mesh, such as data=2,model=4; that of the annotations without it">,
                 Option<"effort", "effort", "int", "3", "how long to search: 1 to 5">];
  let dependentDialects = ["::tessera::exec::ExecDialect", "::tessera::sdy::SdyDialect"];
}

#endif
