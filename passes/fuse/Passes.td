// The fuse phase: ops become kernels.
#ifndef TESSERA_PASSES_FUSE
#define TESSERA_PASSES_FUSE

include "mlir/Pass/PassBase.td"

def ExpandSlices : Pass<"tessera-expand-slices", "::mlir::ModuleOp"> {
  let summary = "Turn taking a device's own part of a value (comm.slice) into a dynamic slice at its coordinate.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def BlockRunningReductions : Pass<"tessera-block-running-reductions", "::mlir::ModuleOp"> {
  let summary = "Compute long running reductions (cumulative sums) in blocks of sixteen and running reductions of their totals.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def IfToCase : Pass<"tessera-if-to-case", "::mlir::ModuleOp"> {
  let summary = "Turn a branch on a boolean (if) into one on a number (case).";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def ForwardInvariants : Pass<"tessera-forward-invariants", "::mlir::ModuleOp"> {
  let summary = "Read what a loop carries unchanged from outside the loop instead of carrying it.";
}

def ExplicitLayouts : Pass<"tessera-explicit-layouts", "::mlir::ModuleOp"> {
  let summary = "Write the layouts of custom calls as transposes, so that every array is row-major.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SimplifyShapes : Pass<"tessera-simplify-shapes", "::mlir::ModuleOp"> {
  let summary = "Merge chains of broadcasts, reshapes and transposes, and drop those that change nothing.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SplitConcatenates : Pass<"tessera-split-concatenates", "::mlir::ModuleOp"> {
  let summary = "Write a concatenation of many arrays into its result by kernels that each copy a few.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
  let options = [Option<"pieces", "pieces", "unsigned", "8", "Arrays that one kernel copies.">];
}

def SplitVariadics : Pass<"tessera-split-variadics", "::mlir::ModuleOp"> {
  let summary = "Split reductions, windows, scatters and sorts of very many arrays into several of fewer.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
  let options = [Option<"most", "most", "unsigned", "512", "Arrays that one kernel should work on.">];
}

def FormKernels : Pass<"tessera-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Group ops into kernels (exec.fused) so that values pass through memory as rarely as pays.";
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

def VerifyFuse : Pass<"tessera-verify-fuse", "::mlir::ModuleOp"> {
  let summary = "Check that every computation is inside a kernel and that kernels hold what code generation accepts.";
}

#endif
