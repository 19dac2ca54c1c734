// The memory phase: from tensors to buffers.
#ifndef TESSERA_PASSES_MEMORY
#define TESSERA_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def FormLoopKernels : Pass<"tessera-form-loop-kernels", "::mlir::ModuleOp"> {
  let summary = "Makes a loop over scalars and small arrays one kernel.";
  let description = [{
    ```mlir
    %r:2 = stablehlo.while(%i = %zero, %x = %a) cond {..} do {
      %next:2 = exec.fused(%j = %i, %y = %x : ..) -> .. { .. }
      stablehlo.return %next#0, %next#1
    }
    ```
    becomes
    ```mlir
    %r:2 = exec.fused(%i0 = %zero, %x0 = %a : ..) -> .. {
      %s:2 = stablehlo.while(%i = %i0, %x = %x0) cond {..} do {
        %next:2 = exec.fused(%j = %i, %y = %x : ..) -> .. { .. }
        stablehlo.return %next#0, %next#1
      }
      exec.yield %s#0, %s#1
    }
    ```
    Kernels of the trips stay as they are, and so does each bit of what they compute. Large arrays may be read, or updated where they lie. A kernel is not interrupted: of a loop that data ends, or one with many trips, it runs so many that it ends within some milliseconds, and a loop around it goes on. Not for GPUs, whose kernels have a thread for each element.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

def PairDonations : Pass<"tessera-pair-donations", "::mlir::ModuleOp"> {
  let summary = "Chooses for each donated argument the output that takes its memory.";
  let description = [{
    ```mlir
    func.func @main(%p: tensor<8xf32> {jax.buffer_donor = true}, %g: tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    func.func @main(%p: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %g: tensor<8xf32>) -> tensor<8xf32>
    ```
    Best is an output that is computed in place, from the argument's last reading; else one that is written later. Pairs that the frontend made stay, unless a device's parts of the two differ in size: such an argument is donated to whoever can use it.
  }];
}

def MarkInplace : Pass<"tessera-mark-inplace", "::mlir::ModuleOp"> {
  let summary = "Notes for each result of a kernel which operand's buffer it may overwrite.";
  let description = [{
    ```mlir
    %r = exec.fused(%a = %g : .., %b = %p : ..) -> tensor<8xf32> { .. }
    ```
    becomes
    ```mlir
    %r = exec.fused(%a = %g : .., %b = %p : ..) -> tensor<8xf32> attributes {inplace = [1]} { .. }
    ```
    Of several operands, the one whose next state the result is (loops, donated arguments), else one that nobody reads later. Which pairs really share a buffer depends on liveness; a kernel must be right whether they do or not. It may only rely on reading an element of such an operand before the same element of the result is written.
  }];
}

def OutlineKernels : Pass<"tessera-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Gives each kernel's computation a name (exec.kernel), equal ones the same.";
  let description = [{
    ```mlir
    %r = exec.fused(%x = %a : ..) -> .. { B }
    %s = exec.fused(%x = %b : ..) -> .. { B }
    ```
    becomes
    ```mlir
    exec.kernel @add_0(%x: ..) -> .. { B }
    %r = exec.fused(%x = %a : ..) -> .. attributes {kernel = @add_0} { B }
    %s = exec.fused(%x = %b : ..) -> .. attributes {kernel = @add_0} { B }
    ```
    One kernel for all that are equal but for their locations and annotations. The region stays on `exec.fused`, so that the program still reads as one on tensors; `--tessera-assign-buffers` drops it.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

def AssignBuffers : Pass<"tessera-assign-buffers", "::mlir::ModuleOp"> {
  let summary = "Turns the program on tensors into instructions on buffers at fixed offsets, with as little memory and as few copies as it can.";
  let description = [{
    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %a = exec.fused(.. %x ..) .. {kernel = @exp_0}
      %b, %h = comm.start all_reduce sum(%a) over A
      %c = comm.wait %h (%b)
      return %c
    }
    ```
    becomes
    ```mlir
    exec.program @main arena 64 .. {
      %0 = exec.buffer input 0 : ..
      %1 = exec.buffer arena at 0 : ..
      %2 = exec.buffer output 0 : ..
      exec.dispatch @exp_0(%0) -> (%1)
      exec.start 0 all_reduce sum(%1) -> (%2) over A
      exec.wait 0
    }
    ```
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

def JoinDispatches : Pass<"tessera-join-dispatches", "::mlir::ModuleOp"> {
  let summary = "Makes one launch of small kernels on a GPU that are equal but for their arrays, as an optimizer's steps are.";
  let description = [{
    ```mlir
    exec.dispatch @add_0(%g, %m) -> (%m)      // of tensor<64xf32>
    exec.dispatch @add_1(%h, %n) -> (%n)      // the same ops, of tensor<8x16xf32>
    ```
    becomes
    ```mlir
    exec.kernel @add_0_for_2(%g: .., %m: .., %h: .., %n: ..) -> (tensor<64xf32>, tensor<8x16xf32>) attributes {strands = 2} { .. both bodies .. }
    exec.dispatch @add_0_for_2(%g, %m, %h, %n) -> (%m, %n)
    ```
    where nothing between them touches what they write, or writes what they read. Kernels of any shape come together where they are pointwise, else those that are one kernel. Memory stays as it is, as places have been given. Programs for CPUs keep their dispatches.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

def VerifyMemory : Pass<"tessera-verify-memory", "::mlir::ModuleOp"> {
  let summary = "Checks that instructions read what was written and overwrite nothing that is still needed.";
  let description = [{
    ```mlir
    exec.start 0 all_reduce sum(%1) -> (%2) over A
    exec.dispatch @exp_0(%0) -> (%1)             // writes an operand of what is under way
    exec.wait 0
    ```
    is refused. By the instructions alone: a read finds an array that was written before, on every path, and in every trip of a loop, and whole: a write over a part of it destroys it; nothing writes constants or inputs that are not donated; a kernel's outputs overlap neither each other nor its inputs, but exactly one that it may overwrite; a collective's results neither each other nor its operands, but an all-reduce's its own operand; between start and wait nobody writes the operands or touches the results; at the end every output is written. A function (exec.function) reads what a call gives it and what it has written itself, and writes all that the call wants written.
  }];
}

#endif
