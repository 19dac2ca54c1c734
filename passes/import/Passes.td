#ifndef TESSERA_PASSES_IMPORT
#define TESSERA_PASSES_IMPORT
include "mlir/Pass/PassBase.td"

def SetTarget : Pass<"tessera-set-target", "mlir::ModuleOp"> {
  let summary = "Says on the module what it is compiled for, where it does not say so itself.";
  let description = [{
    `--tessera-set-target="target=cpu processors=x86-64-v3"` of `module {}`:
    ```mlir
    module attributes {tessera.target = #tessera.target<cpu, <"x86-64-v3", vector_bits = 256, features = ["sse3", ..]>>} {}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "::tessera::target::kDefaultTarget", "What kernels are compiled for: cpu, or shadow.">,
    Option<"processors", "processors", "std::string", "::tessera::target::kDefaultProcessor",
           "The processor (native: this one), or several: x86-64-v3,x86-64-v4.">];
  let dependentDialects = ["::tessera::TesseraDialect"];
}
def SetSchedule : Pass<"tessera-set-schedule", "mlir::ModuleOp"> {
  let summary = "Says on the module what is asked of the order, for the phases that follow.";
  let description = [{
    `--tessera-set-schedule="overlap=off memory=80GB"` of `module {}`:
    ```mlir
    module attributes {tessera.schedule = #tessera.schedule<overlap = off, memory = 80000000000>} {}
    ```
  }];
  let options = [
    Option<"overlap", "overlap", "std::string", "\"auto\"", "Whether collectives run beside computation: auto, on, off.">,
    Option<"memory", "memory", "std::string", "\"\"", "What each device has for the program: 80GB, 1.5GiB, or bytes.">];
  let dependentDialects = ["::tessera::TesseraDialect"];
}
def InlineCalls : Pass<"tessera-inline-calls", "mlir::ModuleOp"> {
  let summary = "Puts the bodies of called functions where they are called, until only the entry is left.";
  let description = [{
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @f(%y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %y, %y : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    Calls in nested regions too; a composite is a call of its decomposition. Operations get the location "at <body> called from <call>". Functions that nothing refers to any more are erased.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}
def DecomposeCustomCalls : Pass<"tessera-decompose-custom-calls", "mlir::ModuleOp"> {
  let summary = "Writes custom calls that name what StableHLO and chlo have words for (top_k, erf) in those words.";
  let description = [{
    ```mlir
    %0 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} : ..
    %1 = stablehlo.custom_call @mhlo.erf(%x) : ..
    %2 = stablehlo.custom_call @MoveToHost(%x) : ..
    ```
    becomes
    ```mlir
    %0:2 = chlo.top_k(%x, k = 2) : ..
    %1 = chlo.erf %x : ..
    %2 = comm.transfer to host (%x) : ..
    ```
    `ApproxTopK` becomes a sort and slices, which are exact. `annotate_device_placement` names a kind of memory; computations on another processor than the device's (JAX's `compute_on`) are refused. `InspectSharding`, which gives nothing, is dropped with a remark, and what programs for StableHLO's interpreter expect of their values (`check.expect_close`) with a warning.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::chlo::ChloDialect", "::tessera::comm::CommDialect"];
}
def PlaceValues : Pass<"tessera-place-values", "mlir::ModuleOp"> {
  let summary = "Says of each value whether it lies in the device's memory or the host's.";
  let description = [{
    ```mlir
    func.func @main(%w: tensor<4xf32> {mhlo.memory_kind = "pinned_host"}) -> (tensor<4xf32> {mhlo.memory_kind = "pinned_host"}) {
      %0 = stablehlo.tanh %w : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%w: tensor<4xf32> {tessera.memory = #comm<space host>}) -> (tensor<4xf32> {tessera.memory = #comm<space host>}) {
      %d = comm.transfer to device (%w) : ..
      %0 = stablehlo.tanh %d : tensor<4xf32>
      %h = comm.transfer to host (%0) : ..
      return %h : tensor<4xf32>
    }
    ```
    Which memory a value lies in follows from transfers and the signature: passes/placement/MemorySpaces.h. What a loop carries lies on the host if any value of it does: so the array that a scan puts parts on the host into. Transfers of values to where they lie already go, but those in front of such loops.
  }];
  let dependentDialects = ["::tessera::comm::CommDialect"];
}
def FlattenTuples : Pass<"tessera-flatten-tuples", "mlir::ModuleOp"> {
  let summary = "Takes tuples and tokens out of a program, and refuses transfers to and from the host.";
  let description = [{
    ```mlir
    func.func @main(%t: tuple<tensor<2xf32>, tensor<3xi32>>, %k: !stablehlo.token) -> tensor<3xi32> {
      %0 = stablehlo.get_tuple_element %t[1] : (..) -> tensor<3xi32>
      return %0 : tensor<3xi32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%a: tensor<2xf32>, %b: tensor<3xi32>) -> tensor<3xi32> {
      return %b : tensor<3xi32>
    }
    ```
    A tuple is its parts, and order needs no tokens where nothing has effects. Operations that speak with the host or with other programs are refused.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def DecomposeRandom : Pass<"tessera-decompose-random", "mlir::ModuleOp"> {
  let summary = "Writes random numbers as integer arithmetic on counters, with XLA's bits.";
  let description = [{
    ```mlir
    %s, %b = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : ..
    %u = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : ..
    ```
    becomes
    ```mlir
    %c = stablehlo.iota dim = 0 : tensor<8xui32>
    %1 = stablehlo.add %c, %key : tensor<8xui32>
    %2 = stablehlo.xor ..                          // 20 rounds of add, rotate, xor
    ```
    `rng` has no state: the n-th one of a program draws from Threefry with key n and counter 0, so every run, and every trip of a loop, draws the same numbers.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::chlo::ChloDialect"];
}
def LoopOverMap : Pass<"tessera-loop-over-map", "mlir::ModuleOp"> {
  let summary = "Runs maps whose computation holds more than elementwise operations element by element.";
  let description = [{
    ```mlir
    %r = "stablehlo.map"(%x) ({
    ^bb0(%a: tensor<f32>):
      %0 = stablehlo.while ..
      stablehlo.return %0 : tensor<f32>
    }) {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %i, %r = stablehlo.while(%i = %zero, %r = %zeros)
      cond { compare LT, %i, %n }
      do {
        %a = stablehlo.dynamic_slice %x, %i, sizes = [1]
        %0 = stablehlo.while ..
        %u = stablehlo.dynamic_update_slice %r, %0, %i
        stablehlo.return %next, %u
      }
    ```
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def LoopOverReduce : Pass<"tessera-loop-over-reduce", "mlir::ModuleOp"> {
  let summary = "Runs reductions whose computation has loops or arrays of several elements one element after the other.";
  let description = [{
    ```mlir
    %r = stablehlo.reduce(%x init: %z) across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
      reducer(%a: tensor<f32>, %b: tensor<f32>) { .. stablehlo.while .. }
    ```
    becomes
    ```mlir
    %c0 = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %i, %r = stablehlo.while(%i = %zero, %c = %c0)
      cond { compare LT, %i, 16 }
      do {
        %column = stablehlo.dynamic_slice %x, %zero, %i, sizes = [8, 1]
        %next = "stablehlo.map"(%c, %column) ({^bb0(%a, %b): .. stablehlo.while .. })
        stablehlo.return %i1, %next
      }
    ```
    Kernels compute with single numbers only. The maps are those that `--tessera-loop-over-map` runs.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::sdy::SdyDialect"];
}
def CloseComputations : Pass<"tessera-close-computations", "mlir::ModuleOp"> {
  let summary = "Computations on elements take the scalars around them that they use as operands.";
  let description = [{
    ```mlir
    %r = stablehlo.reduce(%x init: %z) across dimensions = [0]
      reducer(%a, %b) { %m = maximum %a, %b;  return maximum(%m, %bound) }     // %bound: from around
    ```
    becomes
    ```mlir
    %s = stablehlo.broadcast_in_dim %bound, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %r, %_ = stablehlo.reduce(%x init: %z), (%s init: %bound) across dimensions = [0]
      reducer(%a, %b) (%c, %d) { %m = maximum %a, %b;  return maximum(%m, %d), %d }
    ```
    so that all that the computation reads is in its block. Constants may stay outside. The computations of `select_and_scatter` and of collectives have no room for operands: theirs are refused.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::sdy::SdyDialect"];
}
def BoundPadding : Pass<"tessera-bound-padding", "mlir::ModuleOp"> {
  let summary = "Padding moves elements that leave the result no farther than just outside of it.";
  let description = [{
    ```mlir
    %1 = stablehlo.pad %x, %c, low = [-9223372036854775807], high = [9223372036854775807], interior = [0]
        : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %1 = stablehlo.pad %x, %c, low = [-4], high = [4], interior = [0]
        : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
    so that sums of indices stay small. Padding of windows likewise. A dilated or padded size that 64 bits do not hold is refused.
  }];
}
def SelectInComputations : Pass<"tessera-select-in-computations", "mlir::ModuleOp"> {
  let summary = "Branches in computations on elements become selections.";
  let description = [{
    ```mlir
    %r = stablehlo.reduce(%x init: %z) across dimensions = [0]
      reducer(%a, %b) {
        %p = stablehlo.compare GT, %a, %b
        %c = "stablehlo.if"(%p) ({ stablehlo.return %a }, { stablehlo.return %b })
        stablehlo.return %c
      }
    ```
    becomes
    ```mlir
    %r = stablehlo.reduce(%x init: %z) across dimensions = [0]
      reducer(%a, %b) {
        %p = stablehlo.compare GT, %a, %b
        %c = stablehlo.select %p, %a, %b
        stablehlo.return %c
      }
    ```
    All branches are computed, which nobody sees: operations on numbers have no effects and never fail. Loops and arrays of several elements have no code there and are refused.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def FoldEmptyValues : Pass<"tessera-fold-empty-values", "mlir::ModuleOp"> {
  let summary = "Takes arrays without elements out of a program: they are constants, and what is computed from them alone is known.";
  let description = [{
    ```mlir
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.concatenate %e, %x, dim = 0 : (tensor<0xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.constant dense<0.0> : tensor<2x3xf32>
    // uses of %1 use %x
    ```
    Loops and branches stop carrying them. Only arguments, constants and what `@main` returns may have size 0 afterwards; they take no bytes.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def TabulateGroups : Pass<"tessera-tabulate-groups", "mlir::ModuleOp"> {
  let summary = "Writes groups of devices that are given by mesh axes as tables of device numbers.";
  let description = [{
    ```mlir
    %r = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<
        mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>}> ..          // @mesh: x=2, y=2
    ```
    becomes
    ```mlir
    %r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ..
    ```
    Later passes find the axes behind either form alike.
  }];
}
def DecomposeQuantized : Pass<"tessera-decompose-quantized", "mlir::ModuleOp"> {
  let summary = "Writes operations on quantized values as real arithmetic between dequantising and quantising the stored integers.";
  let description = [{
    ```mlir
    %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
    %1 = stablehlo.add %0, %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
    ```
    becomes
    ```mlir
    %0 = convert(clamp(-128, round_nearest_even(%x / 0.5) + 3, 127)) : tensor<4xi8>
    %d = (convert(%0) - 3) * 0.5 : tensor<4xf32>
    %1 = convert(clamp(-128, round_nearest_even((%d + %d) / 0.5) + 3, 127)) : tensor<4xi8>
    ```
    Values travel as the integers that they are stored as. Operations that only move values keep the integers as they are, where all their quantized types are one.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def RefineShapes : Pass<"tessera-refine-shapes", "mlir::ModuleOp"> {
  let summary = "Makes dynamic shapes static where the arguments' shapes are given, and says what to give where not.";
  let description = [{
    ```mlir
    func.func @main(%x: tensor<?x8xf32> {tessera.shape = tensor<4x8xf32>}) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
      %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    Arguments' shapes come from the option `--input-shapes` of compile. Assertions about shapes are checked and dropped. A shape that is still not known is an error that names what to give.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::tessera::chlo::ChloDialect"];
}
def DecomposeChlo : Pass<"tessera-decompose-chlo", "mlir::ModuleOp"> {
  let summary = "Writes functions such as sinh and top_k as arithmetic and sorts of the StableHLO specification.";
  let description = [{
    ```mlir
    %1 = chlo.square %0 : tensor<4xf32>
    %2 = chlo.asin %h : tensor<4xbf16>
    %3 = chlo.broadcast_add %1, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %1 = stablehlo.multiply %0, %0 : tensor<4xf32>
    %2 = ..                                             // convert to f32, arithmetic, convert back
    %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.add %1, %b : tensor<4xf32>
    ```
    Functions that kernels compute themselves (`erf`, `erfc`) stay: they are elementwise operations as `stablehlo.tanh` is.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def FormRaggedDot : Pass<"tessera-form-ragged-dot", "mlir::ModuleOp"> {
  let summary = "Finds products over groups of rows that were exported as products of masked rows.";
  let description = [{
    ```mlir
    %ends = (running sum of %sizes)
    %in = (0 and all but the last of %ends) <= %row and %row < %ends     // [g, m, k]
    %x = stablehlo.select %in, (broadcast of %lhs), %zeros
    %0 = stablehlo.dot_general %x, %rhs, contracting_dims = [2, 0] x [1, 0] : (tensor<4x64x32xf32>, tensor<4x32x48xf32>) -> tensor<64x48xf32>
    ```
    becomes
    ```mlir
    %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) ..
    ```
    JAX writes `ragged_dot` so for CPUs and GPUs. Zeros of other groups' rows are left out of the sums: an infinity in their matrices makes no NaN.
  }];
  let dependentDialects = ["::tessera::chlo::ChloDialect", "::tessera::stablehlo::StablehloDialect"];
}
def DecomposeRaggedDot : Pass<"tessera-decompose-ragged-dot", "mlir::ModuleOp"> {
  let summary = "Writes products over groups of rows, contracted elements or batches as plain products.";
  let description = [{
    ```mlir
    %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) ..       // lhs [m, k], rhs [g, k, n]: each group of rows has its own rhs
    ```
    becomes
    ```mlir
    %p = stablehlo.dot_general %lhs, %rhs ..            // [m, g, n]
    %q = stablehlo.select %row_in_group, %p, %zero
    %0 = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1]
    ```
    Groups of contracted elements are selected out of the left operand before the product; groups of batches only say which rhs a batch takes. What lies in no group gives 0. Selected after the product, a group's infinities touch no other's rows.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def LoopOverScan : Pass<"tessera-loop-over-scan", "mlir::ModuleOp"> {
  let summary = "Runs the body of a scan in a counted loop over the scanned dimension.";
  let description = [{
    ```mlir
    %y, %c = chlo.scan(%x) inits(%c0) dimension = 0 {
    ^bb0(%e, %a):
      ..
      return %o, %n
    }
    ```
    becomes
    ```mlir
    %i, %c, %y = stablehlo.while(%i = %zero, %a = %c0, %out = %zeros)
      cond { compare LT, %i, %length }
      do {
        %e = stablehlo.dynamic_slice %x, %i, ..
        ..
        %u = stablehlo.dynamic_update_slice %out, %o, %i
        stablehlo.return %next, %n, %u
      }
    ```
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def DecomposeBatchNorm : Pass<"tessera-decompose-batch-norm", "mlir::ModuleOp"> {
  let summary = "Writes batch normalisation and its gradient as reductions and arithmetic.";
  let description = [{
    ```mlir
    %y, %mean, %var = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 1.0e-3, feature_index = 1}> : ..
    ```
    becomes
    ```mlir
    %mean = sum(%x) / n
    %var = sum((%x - %mean) * (%x - %mean)) / n
    %y = (%x - %mean) * rsqrt(%var + epsilon) * %scale + %offset
    ```
    in operations of StableHLO. Sums run over all dimensions but the feature's. Values narrower than f32 are summed in f32.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def NormalizeOperations : Pass<"tessera-normalize-operations", "mlir::ModuleOp"> {
  let summary = "Writes dot, broadcast, map and shapes known after all by the more general operations that later phases know.";
  let description = [{
    ```mlir
    %0 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.broadcast %c, sizes = [2] : (tensor<3xf32>) -> tensor<2x3xf32>
    %2 = "stablehlo.map"(%x) ({^bb0(%e): sine %e}) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.dynamic_reshape %x, %shape : (tensor<6xf32>, tensor<2xi32>) -> tensor<2x3xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.sine %x : tensor<4xf32>
    %3 = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<2x3xf32>
    ```
    `torch_index_select`, `einsum` and the other dynamic forms likewise, and a filter that is reversed for one convolution becomes a `window_reversal` of that. Later phases know the general ones only.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def SeparateStarts : Pass<"tessera-separate-starts", "mlir::ModuleOp"> {
  let summary = "Takes starts that count out of running reductions and those by a computation of their own, which then can be made of parts.";
  let description = [{
    ```mlir
    %r = "stablehlo.reduce_window"(%x, %s) .. add, window 4, padding [3, 0]      // 4 s + x0, 3 s + x0 + x1, ..
    ```
    becomes
    ```mlir
    %0 = "stablehlo.reduce_window"(%x, %zero) .. add, window 4, padding [3, 0]
    %1 = ..                                                                      // 4 s, 3 s, ..: the bits of [4, 3, 2, 1] times %s, %s + %s, ..
    %r = stablehlo.add %1, %0
    ```
    A start is combined once, and once more for each place of a window outside of the array; apart from it, the rows can be reduced in parts. What is narrower than f32 is computed in f32 and rounded once, as one reduction would be.

    ```mlir
    %r = stablehlo.reduce(%x init: %s) applies stablehlo.xor across dimensions = [0]
    ```
    becomes, as would any elementwise computation with a neutral element that is no sum, product or extremum (those count their start once anyway),
    ```mlir
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.xor across dimensions = [0]
    %r = stablehlo.xor %s, %0
    ```
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def FormRunningReductions : Pass<"tessera-form-running-reductions", "mlir::ModuleOp"> {
  let summary = "Turns the ladder of an associative scan into one running reduction.";
  let description = [{
    ```mlir
    %a = stablehlo.slice %x [0:31:2] : (tensor<32xf32>) -> tensor<16xf32>        // jax.lax.associative_scan(mul, x)
    %b = stablehlo.slice %x [1:32:2] : (tensor<32xf32>) -> tensor<16xf32>
    %c = stablehlo.multiply %a, %b : tensor<16xf32>                              // pairs, then pairs of pairs, ..
    ..
    %r = stablehlo.add %even, %odd : tensor<32xf32>                              // each with zeros between
    ```
    becomes
    ```mlir
    %r = "stablehlo.reduce_window"(%x, %one) .. multiply, window 32, padding [31, 0]
    ```
    Several arrays may be scanned together, as in linear recurrences, by any elementwise computation with a neutral element; reversals around a scan make it one from the end. The ladder says that the computation is associative: rounding may differ from the ladder's own order, as that of any sum between two orders does.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def DropConstraints : Pass<"tessera-drop-constraints", "mlir::ModuleOp"> {
  let summary = "Takes sharding constraints out of programs for one device and out of computations on elements.";
  let description = [{
    ```mlir
    sdy.mesh @mesh = <["data"=1, "model"=1]>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"} ]> : tensor<4xf32>
    %2 = stablehlo.tanh %1 : tensor<4xf32>
    ```
    becomes
    ```mlir
    sdy.mesh @mesh = <["data"=1, "model"=1]>
    %2 = stablehlo.tanh %0 : tensor<4xf32>
    ```
    Gone before other passes look at what a value is computed from, it can't keep them from anything. Nor does it say anything in a computation on elements: JAX writes it into the comparators of sorts within shard_map.
  }];
}
def WidenConverted : Pass<"tessera-widen-converted", "mlir::ModuleOp"> {
  let summary = "Computes in f32 what a program computes in bf16 and converts to f32 right away.";
  let description = [{
    ```mlir
    %m = stablehlo.multiply %a, %b : tensor<4xbf16>
    %w = stablehlo.convert %m : (tensor<4xbf16>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %p = stablehlo.convert %a : (tensor<4xbf16>) -> tensor<4xf32>
    %q = stablehlo.convert %b : (tensor<4xbf16>) -> tensor<4xf32>
    %w = stablehlo.multiply %p, %q : tensor<4xf32>
    %m = stablehlo.convert %w : (tensor<4xf32>) -> tensor<4xbf16>
    ```
    Such a conversion asks for precision (a sum, a loss). The operation must be the conversion's own operand, and one that rounds. It is done before anything is sharded or fused, so that neither can change a number.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def WidenExponents : Pass<"tessera-widen-exponents", "mlir::ModuleOp"> {
  let summary = "Computes in f64 what a program computes in f8E8M0FNU, whose smallest number kernels would flush to zero in f32.";
  let description = [{
    ```mlir
    %m = stablehlo.multiply %a, %b : tensor<4xf8E8M0FNU>
    ```
    becomes
    ```mlir
    %p = stablehlo.convert %a : (tensor<4xf8E8M0FNU>) -> tensor<4xf64>
    %q = stablehlo.convert %b : (tensor<4xf8E8M0FNU>) -> tensor<4xf64>
    %w = stablehlo.multiply %p, %q : tensor<4xf64>
    %m = stablehlo.convert %w : (tensor<4xf64>) -> tensor<4xf8E8M0FNU>
    ```
    Its smallest number, 2^-127, is subnormal in f32, in which kernels compute narrow types, and kernels flush those to zero, which the type has none of: NaN would come out.

    A gather or dynamic_slice becomes one of the elements' bits, as `ui8`: along a sharded dimension its result is a sum over devices, of which most have zeros to give.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def WidenSums : Pass<"tessera-widen-sums", "mlir::ModuleOp"> {
  let summary = "Adds up in f32 what a program adds up in floats of 8 bits and fewer, and rounds each sum once.";
  let description = [{
    ```mlir
    %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<4x4xf8E4M3FN>
    ```
    becomes
    ```mlir
    %s = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<4x4xf32>
    %r = stablehlo.convert %s : (tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN>
    ```
    So do convolutions, and sums and products of reduce and reduce_window. One device rounds once anyway; of several, each device's part would be rounded as it travels, and where the type's largest number is 7.5 or 448 a part overflows when the sum does not: NaN would come out, or the largest number taken for a part.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def FormManualComputations : Pass<"tessera-form-manual-computations", "::mlir::ModuleOp"> {
  let summary = "Turns what lies between SPMDFullToShardShape and SPMDShardToFullShape calls into manual computations.";
  let description = [{
    ```mlir
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {tessera.boundary = #tessera.boundary<sharding = <@mesh, [{"x"} ]>, manual_axes = {"x"}>} : (tensor<8xf32>) -> tensor<2xf32>
    %2 = stablehlo.tanh %1 : tensor<2xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {tessera.boundary = #tessera.boundary<sharding = <@mesh, [{"x"} ]>, manual_axes = {"x"}>} : (tensor<2xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %3 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"} ]>] out_shardings=[<@mesh, [{"x"} ]>] manual_axes={"x"} (%1: tensor<2xf32>) {
      %2 = stablehlo.tanh %1 : tensor<2xf32>
      sdy.return %2 : tensor<2xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
    `--tessera-gspmd-to-sdy` has written on the calls which sharding they cross in which axes. What belongs to one computation is connected through the values inside. Constants that it uses are repeated in it, and other values from outside enter whole; device numbers are asked for inside.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}
def GspmdToSdy : Pass<"tessera-gspmd-to-sdy", "mlir::ModuleOp"> {
  let summary = "Turns the sharding strings of GSPMD into sdy annotations over a mesh that has their axes.";
  let description = [{
    ```mlir
    func.func @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}) {
      %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : ..
    ```
    becomes
    ```mlir
    sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2, "axis_2"=2]>
    func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {} ]>}) {
      %0 = sdy.sharding_constraint %x <@mesh, [{"axis_0", "axis_1"}, {} ]> : tensor<8x4xf32>
    ```
    Several meshes where none has the axes of all strings.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}
def StringsToSdy : Pass<"tessera-strings-to-sdy", "mlir::ModuleOp"> {
  let summary = "Turns Shardy's annotations that stand as strings in frontend attributes into sdy.";
  let description = [{
    ```mlir
    module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\"x\"=2]>}"}} {
      func.func @main(%x: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\"x\"} ]>"}}) ..
        %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) : (tensor<8xf32>) -> tensor<4xf32>
        %1 = call @xla.sdy.manual_computation_body(%0) {mhlo.frontend_attributes = {xla.sdy.in_shardings = .., xla.sdy.manual_axes = .., xla.sdy.out_shardings = ..}} : ..
        %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) : (tensor<4xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>}) ..
      %2 = sdy.manual_computation(%x) in_shardings=[..] out_shardings=[..] manual_axes={"x"} (%a: tensor<4xf32>) {
        %1 = call @xla.sdy.manual_computation_body(%a) : ..
        sdy.return %1 : tensor<4xf32>
      }
    ```
    So JAX wrote programs with Shardy before StableHLO's artifacts could hold sdy, and so they stand in what XLA prints. Custom calls `@Sharding`, `@xla.sdy.FuncResultSharding`, `@xla.sdy.ShardingGroup` and `@xla.sdy.PropagationBarrier` become constraints, annotated results, groups and barriers.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect", "::mlir::func::FuncDialect"];
}
def MarkCountedLoops : Pass<"tessera-mark-counted-loops", "mlir::ModuleOp"> {
  let summary = "Marks while loops that count from a constant to a constant with their number of trips.";
  let description = [{
    ```mlir
    %0:2 = stablehlo.while(%i = %c0, %x = %x0)
      cond { compare LT, %i, %c8 }
      do { .. stablehlo.return %i + 1, .. }
    ```
    becomes
    ```mlir
    %0:2 = stablehlo.while(%i = %c0, %x = %x0) attributes {tessera.trip_count = #tessera.trip_count<8>}
      cond { compare LT, %i, %c8 }
      do { .. stablehlo.return %i + 1, .. }
    ```
    The bound and the step may also be carried through the loop unchanged. All else is data-dependent and gets no mark.
  }];
}
def UnrollShortLoops : Pass<"tessera-unroll-short-loops", "mlir::ModuleOp"> {
  let summary = "Writes out counted loops of at most 8 trips over pointwise ops, 512 in all.";
  let description = [{
    ```mlir
    %0:2 = stablehlo.while(%i = %c0, %x = %x0) attributes {tessera.trip_count = #tessera.trip_count<2>}
      cond { compare LT, %i, %c2 }
      do { %y = xor %x, %k .. stablehlo.return %i + 1, %y }
    ```
    becomes
    ```mlir
    %y0 = stablehlo.xor %x0, %k
    %y1 = stablehlo.xor %y0, %k
    ```
    so that one kernel computes them: `jax.random`'s Threefry is such a loop of five trips.
  }];
}
def PairTransfers : Pass<"tessera-pair-transfers", "mlir::ModuleOp"> {
  let summary = "Makes one permutation of a send between devices and the recv of its channel.";
  let description = [{
    ```mlir
    %t = "stablehlo.send"(%x, %token) <{channel_handle = <1, 1>, source_target_pairs = [[0, 1]]}> : ..
    %r, %u = "stablehlo.recv"(%token) <{channel_handle = <1, 1>, source_target_pairs = [[0, 1]]}> : ..
    ```
    becomes
    ```mlir
    %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]>}> : ..
    ```
    Tokens order transfers; a permutation needs no order but that of its operand. Transfers with the host stay, to be refused.
  }];
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def WrapDeviceProgram : Pass<"tessera-wrap-device-program", "mlir::ModuleOp"> {
  let summary = "Puts a program written for one device of many into a manual computation over replicas and partitions.";
  let description = [{
    ```mlir
    module attributes {mhlo.num_replicas = 2 : i32} {
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = "stablehlo.all_reduce"(%x) ..
        return %0 : tensor<4xf32>
      }
    }
    ```
    becomes
    ```mlir
    sdy.mesh @devices = <["replica"=2]>
    func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %0 = sdy.manual_computation(%x) in_shardings=[<@devices, [{"replica"}, {} ]>] out_shardings=[<@devices, [{"replica"}, {} ]>]
          manual_axes={"replica"} (%y: tensor<1x4xf32>) { .. "stablehlo.all_reduce" .. }
      return %0 : tensor<2x4xf32>
    }
    ```
    Arguments and results get a new first dimension, of a part for each device. A program with shardings has a mesh already: there, numbers of devices outside of its manual computations stay, and are refused at the end of import.
  }];
  let dependentDialects = ["::tessera::sdy::SdyDialect", "::tessera::stablehlo::StablehloDialect"];
}
def RecoverAxes : Pass<"tessera-recover-axes", "mlir::ModuleOp"> {
  let summary = "Finds the mesh axes behind tables of device numbers and arithmetic on partition_id in manual computations.";
  let description = [{
    In a manual computation over mesh `["data"=2, "model"=4]`,
    ```mlir
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.remainder %0, %four : tensor<ui32>
    %2 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]>}> ({ .. add .. })
    %3 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0], ..]>}>
    ```
    becomes
    ```mlir
    %1 = comm.axis_index over <@mesh, ["model"=4]>
    %2 = comm.all_reduce sum(%x) over <@mesh, ["data"=2]>
    %3 = comm.shift(%x) by 1 over <@mesh, ["model"=4]>
    ```
    The groups are the same for any number of devices then. A permutation that fits no fewer axes keeps its table over all of them; groups that fit none, reductions by a region of their own, and broadcasts whose roots only the run knows are taken from what is gathered along the axes around them: all with a remark. A `collective_reduce` is an `all_reduce` of which only the root keeps the result.
  }];
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
  let summary = "Checks what import promises: one function, no calls, of chlo only what kernels compute, no device numbers.";
  let description = [{
    What import promises to later phases: one public function `@main` with one block, and no calls (functions that custom calls name may stay); values are arrays of numbers of static shapes; no chlo but its functions that kernels compute (`erf`, `erfc`); no composites or batch normalisation; no tables of devices or `partition_id` left in manual computations; no sharding strings of GSPMD.
    ```mlir
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32>
    ```
    is refused, at the user's source location:
    ```
    error: argument 0 has a dynamic shape, tensor<?xf32>; say what it is ..
    ```
  }];
}
#endif
