#ifndef TESSERA_COMMUNICATE_PASSES
#define TESSERA_COMMUNICATE_PASSES

include "mlir/Pass/PassBase.td"

def FoldCollectives : Pass<"tessera-fold-collectives", "::mlir::ModuleOp"> {
  let summary = "Replaces pairs of collectives by one or none: all-reduce and slice become a reduce-scatter, a slice of an all-gather nothing";
}

def MergeReductions : Pass<"tessera-merge-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduces a sum of values across devices once instead of each of its terms";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def NarrowCollectives : Pass<"tessera-narrow-collectives", "::mlir::ModuleOp"> {
  let summary = "Moves values in the narrower of the types that they have before and after a conversion";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def HoistCollectives : Pass<"tessera-hoist-collectives", "::mlir::ModuleOp"> {
  let summary = "Moves collectives whose operands do not change in a loop to before the loop";
}

def BucketCollectives : Pass<"tessera-bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "Puts small reductions over the same devices into one message";
}

def VerifyCommunicate : Pass<"tessera-verify-communicate", "::mlir::ModuleOp"> {
  let summary = "Refuses collectives over axes that the mesh does not have, or over groups of one device";
}

#endif
