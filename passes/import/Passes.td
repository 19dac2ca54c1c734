#ifndef TESSERA_PASSES_IMPORT
#define TESSERA_PASSES_IMPORT
include "mlir/Pass/PassBase.td"

def InlineCalls : Pass<"tessera-inline-calls", "mlir::ModuleOp"> {
  let summary = "Puts the bodies of called functions where they are called, until only the entry is left.";
  let dependentDialects = ["::mlir::func::FuncDialect"];
}
def DecomposeCustomCalls : Pass<"tessera-decompose-custom-calls", "mlir::ModuleOp"> {
  let summary = "Writes custom calls that name what StableHLO and chlo have words for (top_k, erf) in those words.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::chlo::ChloDialect"];
}
def FlattenTuples : Pass<"tessera-flatten-tuples", "mlir::ModuleOp"> {
  let summary = "Takes tuples and tokens out of a program, and refuses transfers to and from the host.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def DecomposeRandom : Pass<"tessera-decompose-random", "mlir::ModuleOp"> {
  let summary = "Writes random numbers as integer arithmetic on counters, with XLA's bits.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def LoopOverMap : Pass<"tessera-loop-over-map", "mlir::ModuleOp"> {
  let summary = "Runs maps whose computation holds more than elementwise operations element by element.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def LoopOverReduce : Pass<"tessera-loop-over-reduce", "mlir::ModuleOp"> {
  let summary = "Runs reductions whose computation has loops or arrays of several elements one element after the other.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::sdy::SdyDialect"];
}
def CloseComputations : Pass<"tessera-close-computations", "mlir::ModuleOp"> {
  let summary = "Computations on elements take the scalars around them that they use as operands.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::sdy::SdyDialect"];
}
def BoundPadding : Pass<"tessera-bound-padding", "mlir::ModuleOp"> {
  let summary = "Padding moves elements that leave the result no farther than just outside of it.";
}
def SelectInComputations : Pass<"tessera-select-in-computations", "mlir::ModuleOp"> {
  let summary = "Branches in computations on elements become selections.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def FoldEmptyValues : Pass<"tessera-fold-empty-values", "mlir::ModuleOp"> {
  let summary = "Takes arrays without elements out of a program: they are constants, and what is computed from them alone is known.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def TabulateGroups : Pass<"tessera-tabulate-groups", "mlir::ModuleOp"> {
  let summary = "Writes groups of devices that are given by mesh axes as tables of device numbers.";
}
def DecomposeQuantized : Pass<"tessera-decompose-quantized", "mlir::ModuleOp"> {
  let summary = "Writes operations on quantized values as real arithmetic between dequantising and quantising the stored integers.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def RefineShapes : Pass<"tessera-refine-shapes", "mlir::ModuleOp"> {
  let summary = "Makes dynamic shapes static where the arguments' shapes are given, and says what to give where not.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::chlo::ChloDialect"];
}
def DecomposeChlo : Pass<"tessera-decompose-chlo", "mlir::ModuleOp"> {
  let summary = "Writes functions such as erf, sinh and top_k as arithmetic and sorts of the StableHLO specification.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def DecomposeRaggedDot : Pass<"tessera-decompose-ragged-dot", "mlir::ModuleOp"> {
  let summary = "Writes products over groups of rows, contracted elements or batches as plain products.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def LoopOverScan : Pass<"tessera-loop-over-scan", "mlir::ModuleOp"> {
  let summary = "Runs the body of a scan in a counted loop over the scanned dimension.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def DecomposeBatchNorm : Pass<"tessera-decompose-batch-norm", "mlir::ModuleOp"> {
  let summary = "Writes batch normalisation and its gradient as reductions and arithmetic.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def NormalizeOperations : Pass<"tessera-normalize-operations", "mlir::ModuleOp"> {
  let summary = "Writes dot, broadcast, map and shapes known after all by the more general operations that later phases know.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def SeparateStarts : Pass<"tessera-separate-starts", "mlir::ModuleOp"> {
  let summary = "Takes starts that count out of running reductions, which then can be made of parts.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def DropConstraints : Pass<"tessera-drop-constraints", "mlir::ModuleOp"> {
  let summary = "Takes sharding constraints out of programs for one device and out of computations on elements.";
}
def WidenConverted : Pass<"tessera-widen-converted", "mlir::ModuleOp"> {
  let summary = "Computes in f32 what a program computes in bf16 and converts to f32 right away.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def WidenExponents : Pass<"tessera-widen-exponents", "mlir::ModuleOp"> {
  let summary = "Computes in f64 what a program computes in f8E8M0FNU, whose smallest number kernels would flush to zero in f32.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def FormManualComputations : Pass<"tessera-form-manual-computations", "::mlir::ModuleOp"> {
  let summary = "Turn what lies between SPMDFullToShardShape and SPMDShardToFullShape calls into manual computations";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}
def GspmdToSdy : Pass<"tessera-gspmd-to-sdy", "mlir::ModuleOp"> {
  let summary = "Turns the sharding strings of GSPMD into sdy annotations over a mesh that has their axes.";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}
def MarkCountedLoops : Pass<"tessera-mark-counted-loops", "mlir::ModuleOp"> {
  let summary = "Marks while loops that count from a constant to a constant with their number of trips.";
}
def PairTransfers : Pass<"tessera-pair-transfers", "mlir::ModuleOp"> {
  let summary = "Makes one permutation of a send between devices and the recv of its channel.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def WrapDeviceProgram : Pass<"tessera-wrap-device-program", "mlir::ModuleOp"> {
  let summary = "Puts a program written for one device of many into a manual computation over replicas and partitions.";
  let dependentDialects = ["::tessera::sdy::SdyDialect", "::tessera::stablehlo::StablehloDialect"];
}
def RecoverAxes : Pass<"tessera-recover-axes", "mlir::ModuleOp"> {
  let summary = "Finds the mesh axes behind tables of device numbers and arithmetic on partition_id in manual computations.";
  let dependentDialects = ["::tessera::comm::CommDialect", "::tessera::stablehlo::StablehloDialect"];
}
def DropUnreadAttributes : Pass<"tessera-drop-unread-attributes", "mlir::ModuleOp"> {
  let summary = "Takes out what is written on operations and signatures and no phase reads.";
  let description = [{
    ```mlir
    %0 = stablehlo.tanh %x {my.note = "hot"} : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.tanh %x : tensor<8xf32>
    ```
  }];
}
def VerifyImport : Pass<"tessera-verify-import", "mlir::ModuleOp"> {
  let summary = "Checks what import promises: one function, no calls, no chlo, no device numbers.";
}
#endif
