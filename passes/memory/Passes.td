// The memory phase: from tensors to buffers.
#ifndef TESSERA_PASSES_MEMORY
#define TESSERA_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def PairDonations : Pass<"tessera-pair-donations", "::mlir::ModuleOp"> {
  let summary = "Choose for each donated argument the output that takes its memory.";
}

def MarkInplace : Pass<"tessera-mark-inplace", "::mlir::ModuleOp"> {
  let summary = "Note for each result of a kernel which operand's buffer it may overwrite.";
}

def OutlineKernels : Pass<"tessera-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Give each kernel's computation a name (exec.kernel), equal ones the same.";
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

def AssignBuffers : Pass<"tessera-assign-buffers", "::mlir::ModuleOp"> {
  let summary = "Turn the program on tensors into instructions on buffers at fixed offsets, with as little memory and as few copies as it can.";
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

def VerifyMemory : Pass<"tessera-verify-memory", "::mlir::ModuleOp"> {
  let summary = "Check that instructions read what was written and overwrite nothing that is still needed.";
}

#endif
