// The passes of the reshard phase.
include "mlir/Pass/PassBase.td"

def ShowShardingRules : Pass<"tessera-show-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "Writes the sharding rule of each op on it, for reading and for tests";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def UnifyMeshes : Pass<"tessera-unify-meshes", "::mlir::ModuleOp"> {
  let summary = "Writes all shardings with the axes of the module's first mesh";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def SplitReductions : Pass<"tessera-split-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduces shards first where a region that is of no kind reduces several dimensions";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def SelectFirstRows : Pass<"tessera-select-first-rows", "::mlir::ModuleOp"> {
  let summary = "Gathers only the first rows of each shard for the first rows of a sort along a sharded dimension";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def DistributeSorts : Pass<"tessera-distribute-sorts", "::mlir::ModuleOp"> {
  let summary = "Sorts along sharded dimensions by column sorts, where that is cheaper than gathering them";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def DistributeFfts : Pass<"tessera-distribute-ffts", "::mlir::ModuleOp"> {
  let summary = "Fourier transforms along sharded dimensions in four steps, or dimension by dimension, where that is cheaper than gathering them";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def InsertReshards : Pass<"tessera-insert-reshards", "::mlir::ModuleOp"> {
  let summary = "Chooses the axes along which each operation is computed and inserts the reshards that this needs";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def ExplainReshards : Pass<"tessera-explain-reshards", "::mlir::ModuleOp"> {
  let summary = "Says of every reshard what it moves and how many bytes a device sends for it";
}

def DeferReductions : Pass<"tessera-defer-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduces partial values after the operations that commute with the reduction, where that is cheaper";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}

def VerifyReshard : Pass<"tessera-verify-reshard", "::mlir::ModuleOp"> {
  let summary = "Checks that every operation can be computed on the shards that its operands have";
}
