// The fuse phase: ops become kernels.
#ifndef TESSERA_PASSES_FUSE
#define TESSERA_PASSES_FUSE

include "mlir/Pass/PassBase.td"

def ExpandSlices : Pass<"tessera-expand-slices", "::mlir::ModuleOp"> {
  let summary = "Turns taking a device's own part of a value (comm.slice) into a dynamic slice at its coordinate.";
  let description = [{
    ```mlir
    %p = comm.slice %x dim 0 over <@mesh, ["data"=4]> : tensor<8x4xf32> -> tensor<2x4xf32>
    ```
    becomes
    ```mlir
    %i = comm.axis_index over <@mesh, ["data"=4]> : tensor<i32>
    %s = stablehlo.multiply %i, %two : tensor<i32>
    %p = stablehlo.dynamic_slice %x, %s, %zero, sizes = [2, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    ```
    which then fuses. Coordinates never change: each is asked for once, where the program begins.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def IfToCase : Pass<"tessera-if-to-case", "::mlir::ModuleOp"> {
  let summary = "Turns a branch on a boolean (if) into one on a number (case).";
  let description = [{
    ```mlir
    %r = "stablehlo.if"(%p) ({ A }, { B })
    ```
    becomes
    ```mlir
    %i = stablehlo.select %p, %zero, %one : tensor<i1>, tensor<i32>
    %r = "stablehlo.case"(%i) ({ A }, { B })
    ```
    so that the device program has one kind of branch.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def ForwardInvariants : Pass<"tessera-forward-invariants", "::mlir::ModuleOp"> {
  let summary = "Reads what a loop carries unchanged from outside the loop instead of carrying it.";
  let description = [{
    ```mlir
    %r:2 = stablehlo.while(%i = %zero, %c = %splat)
      do {
        .. %c ..
        stablehlo.return %next, %c
      }
    ```
    becomes
    ```mlir
    %r = stablehlo.while(%i = %zero)
      do {
        .. %splat ..
        stablehlo.return %next
      }
    ```
    so that constants are seen as such and nothing has to be put in memory for being carried.
  }];
}

def ExplicitLayouts : Pass<"tessera-explicit-layouts", "::mlir::ModuleOp"> {
  let summary = "Writes the layouts of custom calls as transposes, so that every array is row-major.";
  let description = [{
    ```mlir
    %r = stablehlo.custom_call @f(%a) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]}
        : (tensor<5x3xf32>) -> tensor<5x3xf32>
    ```
    becomes
    ```mlir
    %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
    %u = stablehlo.custom_call @f(%t) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %r = stablehlo.transpose %u, dims = [1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
    ```
    From here on the types of the call say what lies in memory, not what its operands mean.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SelectUpdates : Pass<"tessera-select-updates", "::mlir::ModuleOp"> {
  let summary = "Turns a scatter of one update a row into one repeated value into a select by place.";
  let description = [{
    ```mlir
    %r = "stablehlo.scatter"(%zeros, %i, %u) .. add, input_batching_dims = [0], inserted_window_dims = [1] : (tensor<8x5xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8x5xf32>
    ```
    becomes
    ```mlir
    %p = stablehlo.iota dim = 1 : tensor<8x5xi32>
    %e = stablehlo.compare EQ, %p, (broadcast of %i)
    %r = stablehlo.select %e, %zeros + (broadcast of %u), %zeros
    ```
    The gradient of a picked element (the logit of a label, in a cross entropy) is such a scatter. As a select it fuses with the softmax around it: the array is not made.
    Indices that lie outside are equal to no place. What is updated in place, and rows with several updates, stay scatters.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SimplifyUpdates : Pass<"tessera-simplify-updates", "::mlir::ModuleOp"> {
  let summary = "Updates no more of an array than changes, or none where readers can do without.";
  let description = [{
    ```mlir
    %u = stablehlo.dynamic_update_slice %x, %y, %i, %c : (tensor<6x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<6x32xf32>
    %r = stablehlo.select %p, %u, %x : tensor<i1>, tensor<6x32xf32>
    ```
    becomes
    ```mlir
    %o = stablehlo.dynamic_slice %x, %i, %c, sizes = [1, 32] : (tensor<6x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
    %s = stablehlo.select %p, %y, %o : tensor<i1>, tensor<1x32xf32>
    %r = stablehlo.dynamic_update_slice %x, %s, %i, %c                     // in place
    ```

    | what is written | what it becomes |
    | --- | --- |
    | an array that is updated or stays, by one predicate | an update by what is chosen for the part |
    | one number at one place along a dimension (the gradient of an update), between elementwise operations | a select by place |
    | a row of a concatenation replaced, at a constant place (`roll(x).at[0].set(y)`) | a concatenation with that row |
    | slices of an array of which a row is replaced, that have nothing else beside that row | slices of the array, and of the row |
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SumSelected : Pass<"tessera-sum-selected", "::mlir::ModuleOp"> {
  let summary = "Turns a sum over a row that has one element other than zero into that element.";
  let description = [{
    ```mlir
    %p = stablehlo.iota dim = 1 : tensor<8x5xi32>
    %e = stablehlo.compare EQ, %p, (broadcast of %i)
    %s = stablehlo.select %e, (broadcast of %u), %zeros
    %r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %t = 0 <= %i and %i <= 4
    %r = stablehlo.select %t, %u, (zeros) : tensor<8xi1>, tensor<8xf32>
    ```
    It is the sum in the gradient of a log-softmax, of which one element is used: a pass over the row less.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SplitComplexProducts : Pass<"tessera-split-complex-products", "::mlir::ModuleOp"> {
  let summary = "Makes a product of matrices of complex numbers of four real ones.";
  let description = [{
    ```mlir
    %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xcomplex<f32>>, tensor<64x64xcomplex<f32>>) -> tensor<64x64xcomplex<f32>>
    ```
    becomes
    ```mlir
    %a = stablehlo.real %x
    %b = stablehlo.imag %x
    %c = stablehlo.real %y
    %d = stablehlo.imag %y
    %re = %a . %c - %b . %d : tensor<64x64xf32>
    %im = %a . %d + %b . %c : tensor<64x64xf32>
    %p = stablehlo.complex %re, %im : tensor<64x64xcomplex<f32>>
    ```
    An operand that was real has no imaginary part, and two of the products are left. Vectors times matrices, and
    products of so few numbers that taking them apart costs as much, stay as they are.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SimplifyShapes : Pass<"tessera-simplify-shapes", "::mlir::ModuleOp"> {
  let summary = "Merges chains of broadcasts, reshapes and transposes, and drops those that change nothing.";
  let description = [{
    ```mlir
    %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<8x1xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    ```
    becomes
    ```mlir
    %1 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.reshape %y : (tensor<8xf32>) -> tensor<1x8xf32>         // a view of the same memory
    ```

    | what is written | what it becomes |
    | --- | --- |
    | transpose of dimensions of size 1 | reshape |
    | broadcast or reshape of a splat constant | a splat constant of that shape |
    | constant of 64 numbers or more that count from zero | iota |
    | pointwise op of reshapes | reshape of the pointwise op |
    | transpose of a contraction that exchanges its sides, but for dimensions of size 1 | the factors the other way round |
    | reduction over dimensions of size 1 | reshape |
    | sum of two arrays padded to alternate | concatenate, reshape |
    | dynamic slice of a transpose that nothing reads as a whole (weights of layers in a scan) | reshape of the dynamic slice, where that lies in whole lines and in order |
    | select between equals, multiplication by 1 | the value |
    | `optimization_barrier` | its operands: from here on nothing merges or hoists computations |
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SignsOfMaxima : Pass<"tessera-signs-of-maxima", "::mlir::ModuleOp"> {
  let summary = "Reads signs off a maximum that is in memory anyway, instead of what the maximum is of.";
  let description = [{
    ```mlir
    %y = stablehlo.maximum %x, %zeros
    %p = stablehlo.dot_general %y, %w, ..       // and, for the gradient of %w: %y, %t
    %s = stablehlo.compare GT, %x, %zeros       // for the gradient of %x: %t times %w, where %x > 0
    ```
    becomes
    ```mlir
    %s = stablehlo.compare GT, %y, %zeros
    ```
    The bits are the same, NaN included, and neither `%x` nor an array of signs is kept for the backward pass. Only where a product reads `%y` and a value that is computed of `%y` and that the signs' readers are computed of: otherwise, as where `%w` stays as it is, `%y` would be kept for its signs.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def ComputeGathered : Pass<"tessera-compute-gathered", "::mlir::ModuleOp"> {
  let summary = "Computes of a table, as rotary embeddings look up, only the rows that are gathered.";
  let description = [{
    ```mlir
    %n = stablehlo.iota dim = 0 : tensor<4096xf32>
    %0 = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<4096xf32>) -> tensor<4096x4xf32>
    %1 = stablehlo.broadcast_in_dim %f, dims = [1] : (tensor<4xf32>) -> tensor<4096x4xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4096x4xf32>
    %t = stablehlo.cosine %2 : tensor<4096x4xf32>
    %r = "stablehlo.gather"(%t, %i) .. : (tensor<4096x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32>
    ```
    becomes
    ```mlir
    %c = stablehlo.clamp %zero, %j, %last : tensor<8xi32>        // %j: %i as 8 numbers
    %n = stablehlo.convert %c : (tensor<8xi32>) -> tensor<8xf32>
    %0 = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.broadcast_in_dim %f, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<8x4xf32>
    %r = stablehlo.cosine %2 : tensor<8x4xf32>
    ```
    where nobody but gathers reads the table, and these take fewer rows than it has, all trips of the loops around them together: neither its memory nor its other rows are needed. Elements come of the same operations as before.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def GatherFirst : Pass<"tessera-gather-first", "::mlir::ModuleOp"> {
  let summary = "Computes single elements, as the loss takes one of each row, after they are gathered.";
  let description = [{
    ```mlir
    %0 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x2048xf32>
    %1 = stablehlo.subtract %x, %0 : tensor<8x2048xf32>
    %r = "stablehlo.gather"(%1, %i) .. : (tensor<8x2048xf32>, tensor<8x1x1xi32>) -> tensor<8x1xf32>
    ```
    becomes
    ```mlir
    %1 = "stablehlo.gather"(%x, %i) .. : (tensor<8x2048xf32>, tensor<8x1x1xi32>) -> tensor<8x1xf32>
    %0 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %r = stablehlo.subtract %1, %0 : tensor<8x1xf32>
    ```
    where the gather takes no more than a sixteenth of the elements, of two arrays at most: what is left can be computed with what its row is reduced to. Elements come of the same operations as before.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SplitConcatenates : Pass<"tessera-split-concatenates", "::mlir::ModuleOp"> {
  let summary = "Writes a concatenation of many arrays into its result by kernels that each copy a few.";
  let description = [{
    ```mlir
    %r = stablehlo.concatenate %a, %b, %c, %d, dim = 0 : (..) -> tensor<32xf32>
    ```
    becomes, where two pieces are the most,
    ```mlir
    %0 = stablehlo.concatenate %a, %b, dim = 0 : (..) -> tensor<16xf32>
    %1 = stablehlo.pad %0, %zero, low = [0], high = [16], interior = [0] : (..) -> tensor<32xf32>
    %2 = stablehlo.concatenate %c, %d, dim = 0 : (..) -> tensor<16xf32>
    %r = stablehlo.dynamic_update_slice %1, %2, %sixteen : (..) -> tensor<32xf32>
    ```
    Updates are made in place, so that each element is copied once. A kernel has loops for each of a few pieces; with more it would ask of every element which piece it is in.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
  let options = [Option<"pieces", "pieces", "unsigned", "8", "Arrays that one kernel copies.">];
}

def SplitVariadics : Pass<"tessera-split-variadics", "::mlir::ModuleOp"> {
  let summary = "Splits reductions, windows, scatters and sorts of very many arrays into several of fewer.";
  let description = [{
    ```mlir
    %s:3 = "stablehlo.sort"(%k, %a, %b) ({ compare two elements of %k }) ..
    ```
    becomes, where two arrays are the most,
    ```mlir
    %s:2 = "stablehlo.sort"(%k, %a) ({ compare two elements of %k }) ..
    %t:2 = "stablehlo.sort"(%k, %b) ({ compare two elements of %k }) ..
    ```
    Arrays that a computation does not combine go apart; a sort is made anew, with what it compares, for each part of what only follows.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
  let options = [Option<"most", "most", "unsigned", "512", "Arrays that one kernel should work on.">];
}

def SimplifySorts : Pass<"tessera-simplify-sorts", "::mlir::ModuleOp"> {
  let summary = "Sorts along the innermost dimension, and by one number after the other.";
  let description = [{
    ```mlir
    %s:2 = "stablehlo.sort"(%k, %a) <{dimension = 0}> ({ k < k' or (k == k' and a < a') }) : (tensor<4096x512xi32>, tensor<4096x512xf32>) ..
    ```
    becomes
    ```mlir
    %0, %1 = %k and %a transposed : tensor<512x4096xi32>, tensor<512x4096xf32>
    %2:2 = "stablehlo.sort"(%0, %1) <{dimension = 1, is_stable = true}> ({ a < a' }) ..
    %3:2 = "stablehlo.sort"(%2#0, %2#1) <{dimension = 1, is_stable = true}> ({ k < k' }) ..
    %s:2 = %3#0 and %3#1 transposed
    ```
    A sort by one number does not compare, and its time is linear in the rows; read down columns, each element would be a line of memory. Small arrays, and sorts of which only the first rows are wanted, are not transposed.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def FormTransfers : Pass<"tessera-form-transfers", "::mlir::ModuleOp"> {
  let summary = "Makes all that happens to values in the host's memory transfers.";
  let description = [{
    ```mlir
    %p = stablehlo.dynamic_slice %h, %i, %c0, sizes = [1, 4] : (tensor<8x4xf32>, ..) -> tensor<1x4xf32>   // %h lies on the host
    %d = comm.transfer to device (%p) : ..
    ```
    becomes
    ```mlir
    %d = comm.transfer to device (%h) at %i : (tensor<8x4xf32>, tensor<i32>) -> tensor<1x4xf32>
    ```
    and an update of a part a transfer `into` the array; parts are rows that lie side by side. Other parts are taken where the device can: of the array as a whole, with a warning that names the bytes. One number all over (what a scan's array begins with) goes to the host in few rows, which are repeated there.
  }];
  let dependentDialects = ["::tessera::comm::CommDialect"];
}

def Rematerialize : Pass<"tessera-rematerialize", "::mlir::ModuleOp"> {
  let summary = "Computes values again instead of keeping them, where a device would otherwise hold more than it may.";
  let description = [{
    ```mlir
    %a = stablehlo.tanh %x                       // read here and, much later, by %e
    %b = stablehlo.dot_general %a, %w
    ..
    %e = stablehlo.multiply %a, %d
    ```
    becomes
    ```mlir
    %a = stablehlo.tanh %x
    %b = stablehlo.dot_general %a, %w
    ..
    %c = stablehlo.tanh %x
    %e = stablehlo.multiply %c, %d
    ```
    Likewise what a loop puts away in each trip for a later loop is computed in that one. Kernels are formed of a copy of the module to know what is in memory when, and what it costs; lib/cost/Remat.h decides; what comes of it is tried up to the phase memory. Where nothing fits, an error names the least memory that does, unless nobody asks for it.
  }];
  let options = [
    Option<"triesLeast", "tries-least", "bool", "true", "Where nothing is found that fits, go as far down as it goes.">,
    Option<"triesFew", "tries-few", "bool", "false", "Try a few programs only, of what may take minutes.">
  ];
  let dependentDialects = ["::tessera::exec::ExecDialect", "::tessera::comm::CommDialect", "::tessera::stablehlo::StablehloDialect"];
}

def DropFunctionStacks : Pass<"tessera-drop-function-stacks", "::mlir::ModuleOp"> {
  let summary = "Computes cheap functions of what a loop puts away in the loop that goes back, rather than to put them away too.";
  let description = [{
    ```mlir
    %f:3 = stablehlo.while(..)
      %s = dynamic_update_slice %stack0, %y, %trip
      %t = dynamic_update_slice %stack1, 1 - %y, %trip
    %g = stablehlo.while(..)
      %y = dynamic_slice %f#1, %trip
      %z = dynamic_slice %f#2, %trip
    ```
    becomes
    ```mlir
    %f:2 = stablehlo.while(..)
      %s = dynamic_update_slice %stack0, %y, %trip
    %g = stablehlo.while(..)
      %y = dynamic_slice %f#1, %trip
      %z = 1 - %y
    ```
    The gradients of tanh and of a logistic function put such pairs away. One or two operations that are not expensive, of an array that is no wider.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def DropScoreStacks : Pass<"tessera-drop-score-stacks", "::mlir::ModuleOp"> {
  let summary = "Computes attention's probabilities again in the loop that goes back, rather than to put them away in each trip.";
  let description = [{
    ```mlir
    %f:3 = stablehlo.while(..)                        // over layers: puts queries, keys and probabilities away
      %p = softmax(%q . %k)
      %s = dynamic_update_slice %stack, %p, %layer
    %g = stablehlo.while(..)                          // and back
      %p = dynamic_slice %f#2, %layer
      .. = %p . %gradients
    ```
    becomes
    ```mlir
    %f:2 = stablehlo.while(..)
      %p = softmax(%q . %k)
    %g = stablehlo.while(..)
      %q = dynamic_slice %f#0, %layer
      %k = dynamic_slice %f#1, %layer
      %p = softmax(%q . %k)
      .. = %p . %gradients
    ```
    where the gradient then becomes kernels of its own (FormAttentionGradient.h), which is tried with a copy of the module.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect", "::tessera::stablehlo::StablehloDialect"];
}

def CopyCheap : Pass<"tessera-copy-cheap", "::mlir::ModuleOp"> {
  let summary = "Makes splats, iotas and broadcasts again in the loops and branches that read them.";
  let description = [{
    ```mlir
    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.while(%x = %a) : tensor<8xf32> .. do {
      %1 = stablehlo.add %x, %c : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.while(%x = %a) : tensor<8xf32> .. do {
      %c = stablehlo.constant dense<1.0> : tensor<8xf32>
      %1 = stablehlo.add %x, %c : tensor<8xf32>
    ```
    so that the kernels in there need no array of them.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def FormAttention : Pass<"tessera-form-attention", "::mlir::ModuleOp"> {
  let summary = "Puts attention, and its gradient, into kernels whose scores are in no array.";
  let description = [{
    ```mlir
    %s = stablehlo.dot_general %q, %k, ..      // scores
    %p = softmax(%s)                           // as ops
    %o = stablehlo.dot_general %p, %v, ..
    ```
    becomes
    ```mlir
    %o = exec.fused(%q, %k, %v) -> .. {
      // the same ops
    }
    ```
    where nothing else reads the scores; the gradient becomes one kernel or two (FormAttentionGradient.h). Which of it pays is decided by lib/fusion/AttentionStays.h.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect", "::tessera::stablehlo::StablehloDialect"];
}

def FormGroupedProducts : Pass<"tessera-form-grouped-products", "::mlir::ModuleOp"> {
  let summary = "Puts products whose rows, or contracted elements, fall into groups into kernels that multiply each row once.";
  let description = [{
    ```mlir
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<4x32x48xf32>) -> tensor<64x4x48xf32>
    %own = stablehlo.compare EQ, (broadcast of %group), (iota along the groups)
    %q = stablehlo.select %own, %p, (zeros) : tensor<64x4x48xi1>, tensor<64x4x48xf32>
    %r = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x4x48xf32>, tensor<f32>) -> tensor<64x48xf32>
    ```
    becomes
    ```mlir
    %r = exec.fused(%x, %w, %group) -> tensor<64x48xf32> {
      // the same ops
    }
    ```
    A row keeps the product with one matrix, so that no other is computed (SelectedProduct.h, GroupedProduct.h). Likewise a product for each group of contracted elements, whose operands are zero but for those of the group, goes over these only (TermRange.h). `jax.lax.ragged_dot` is made of the two.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect", "::tessera::stablehlo::StablehloDialect"];
}

def SplitColumnSums : Pass<"tessera-split-column-sums", "::mlir::ModuleOp"> {
  let summary = "Makes large sums over columns in two stages, of which kernels that go over the rows may have the first.";
  let description = [{
    ```mlir
    %s = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8192x2048xf32>, tensor<f32>) -> tensor<2048xf32>
    ```
    becomes
    ```mlir
    %p = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 64, 1>, window_strides = array<i64: 64, 1>}> ({..})
           {tessera.parts = 64 : i64} : (tensor<8192x2048xf32>, tensor<f32>) -> tensor<128x2048xf32>
    %s = stablehlo.reduce(%p init: %c) applies stablehlo.add across dimensions = [0] {tessera.parts = 64 : i64} : (tensor<128x2048xf32>, tensor<f32>) -> tensor<2048xf32>
    ```
    A part is one of the sums that the order of addition (docs/numbers.md) makes on its way, so the bits stay. bf16 and f16 are added as f32, as they would be. Programs for GPUs keep their sums, and so does attention, which is formed before.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SplitWholeSums : Pass<"tessera-split-whole-sums", "::mlir::ModuleOp"> {
  let summary = "Makes sums of all elements of large arrays in two stages, of which all processors of a GPU have the first.";
  let description = [{
    ```mlir
    %s = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<f32>
    ```
    becomes
    ```mlir
    %l = stablehlo.reshape %x : (tensor<4096x1024xf32>) -> tensor<4096x64x16xf32>
    %p = stablehlo.reduce(%l init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4096x64x16xf32>, tensor<f32>) -> tensor<4096x16xf32>
    %s = stablehlo.reduce(%p init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<4096x16xf32>, tensor<f32>) -> tensor<f32>
    ```
    The 16 lanes of a row are sums that the order of addition (docs/numbers.md) makes on its way, so the bits stay. Programs for CPUs keep their sums.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def FormFirstRows : Pass<"tessera-form-first-rows", "::mlir::ModuleOp"> {
  let summary = "Puts sorts of which only the first rows are read into kernels with the slices.";
  let description = [{
    ```mlir
    %0:2 = "stablehlo.sort"(%x, %i) ({..})
    %1 = stablehlo.slice %0#0 [0:4, 0:3]
    %2 = stablehlo.slice %0#1 [0:4, 0:3]
    ```
    becomes
    ```mlir
    %0:2 = exec.fused(%x, %i) -> tensor<4x3xf32>, tensor<4x3xi32> {
      // the same ops
    }
    ```
    which need not sort what nobody reads.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

def FormKernels : Pass<"tessera-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups ops into kernels (exec.fused) so that values pass through memory as rarely as pays.";
  let description = [{
    ```mlir
    %e = stablehlo.exponential %x : tensor<8xf32>
    %s = stablehlo.add %e, %c : tensor<8xf32>             // %c: a splat constant
    %g = comm.all_gather(%s) dim 0 over A
    ```
    becomes
    ```mlir
    %s = exec.fused(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
      %c = stablehlo.constant dense<1.0> : tensor<8xf32>
      %e = stablehlo.exponential %a : tensor<8xf32>
      %0 = stablehlo.add %e, %c : tensor<8xf32>
      exec.return %0 : tensor<8xf32>
    }
    %g = comm.all_gather(%s) dim 0 over A
    ```
    Loops, branches and collectives stay outside, with reshapes of values in memory (views) and constants that are read as arrays. Splats move into the kernels that use them. Of a reduction of several arrays only what is read becomes a result.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

def ReduceTogether : Pass<"tessera-reduce-together", "::mlir::ModuleOp"> {
  let summary = "Makes reductions of a kernel that go over the same elements one reduction of several arrays.";
  let description = [{
    ```mlir
    %r = exec.fused(%a = %x : tensor<8x4xf32>, %b = %y : tensor<8x4xf32>) -> tensor<8xf32> {
      %p = stablehlo.multiply %a, %b : tensor<8x4xf32>
      %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1]
      %1 = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1]
    ```
    becomes
    ```mlir
    %r = exec.fused(%a = %x : tensor<8x4xf32>, %b = %y : tensor<8x4xf32>) -> tensor<8xf32> {
      %p = stablehlo.multiply %a, %b : tensor<8x4xf32>
      %0:2 = stablehlo.reduce(%a init: %zero), (%p init: %zero) across dimensions = [1] { add, add }
    ```
    where neither needs the other's result, so that a row is gone over once for both. The order of addition is each one's own, so bits stay. Programs for GPUs keep theirs.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

def SizeScratch : Pass<"tessera-size-scratch", "::mlir::ModuleOp"> {
  let summary = "Says what each kernel needs beside arrays, where memory is bounded.";
  let description = [{
    ```mlir
    %r = exec.fused(%a = %x : tensor<512x512xf32>, %b = %y : tensor<512x512xf32>) -> tensor<512x512xf32> {
      %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    ```
    becomes
    ```mlir
    %r = exec.fused(%a = %x : tensor<512x512xf32>, %b = %y : tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tessera.scratch = 262144 : i64} {
      %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    ```
    so that the phase order counts it. Each kernel is written once as for its code, which is not made. A program that fits with all its values at once is left as it is.
  }];
  let dependentDialects = ["::tessera::TesseraDialect"];
}

def VerifyFuse : Pass<"tessera-verify-fuse", "::mlir::ModuleOp"> {
  let summary = "Checks that every computation is inside a kernel and that kernels hold what code generation accepts.";
  let description = [{
    ```mlir
    %s = stablehlo.add %x, %x : tensor<8xf32>
    ```
    outside of a kernel is refused. Outside `exec.fused` there are no compute ops, only control flow, collectives, views (reshape) and constants; inside there is StableHLO without control flow, and in-place operands are arrays that exist.
  }];
}

#endif
