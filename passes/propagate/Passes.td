// The propagate phase: every value gets a sharding.
#ifndef TESSERA_PASSES_PROPAGATE
#define TESSERA_PASSES_PROPAGATE

include "mlir/Pass/PassBase.td"

def NormalizeShardings : Pass<"tessera-normalize-shardings", "::mlir::ModuleOp"> {
  let summary = "Write annotations in one way: meshes by name, no axes of size 1, every manual axis mentioned.";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def CheckGroups : Pass<"tessera-check-groups", "::mlir::ModuleOp"> {
  let summary = "Refuse sharding groups whose members are annotated differently.";
}

def SplitConstants : Pass<"tessera-split-constants", "::mlir::ModuleOp"> {
  let summary = "Give each use of a constant expression its own copy, so that uses need not be sharded alike.";
}

def ApplyConstraints : Pass<"tessera-apply-constraints", "::mlir::ModuleOp"> {
  let summary = "Give a value the sharding that a constraint on it demands.";
}

def PropagateShardings : Pass<"tessera-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "Extend the annotations to all values, along the sharding rules of ops.";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
  let options = [Option<"recordOrigins", "record-origins", "bool", /*default=*/"false",
                        "note on every op where its axes came from (tessera.origin)">,
                 Option<"bySize", "by-size", "bool", /*default=*/"false",
                        "let the larger tensor decide conflicts, as Shardy does, not the predicted time">];
}

def MergeConstants : Pass<"tessera-merge-constants", "::mlir::ModuleOp"> {
  let summary = "Merge the copies of constant expressions that ended with the same sharding.";
}

def FinalizeShardings : Pass<"tessera-finalize-shardings", "::mlir::ModuleOp"> {
  let summary = "Close all shardings, turn constraints into reshards, and keep inputs and outputs evenly sharded.";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def VerifyPropagate : Pass<"tessera-verify-propagate", "::mlir::ModuleOp"> {
  let summary = "Check that every value has a closed sharding and that carried values agree.";
}

def PrintShardingOrigins : Pass<"tessera-print-sharding-origins", "::mlir::ModuleOp"> {
  let summary = "Propagate, and print for every value which annotation its axes came from, through which ops.";
}

#endif
