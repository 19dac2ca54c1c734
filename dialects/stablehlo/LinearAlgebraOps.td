// Factorisations, solves, Fourier transforms and random numbers.
#ifndef TESSERA_STABLEHLO_LINEAR_ALGEBRA
#define TESSERA_STABLEHLO_LINEAR_ALGEBRA
include "dialects/stablehlo/StablehloBase.td"

def CholeskyOp : OneTypeOp<"cholesky", [Pure, DeclareOpInterfaceMethods<LibraryCallOpInterface>, LocalizedAs<"ByRule">]> {
  let arguments = (ins FloatOrComplexTensor:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs FloatOrComplexTensor:$result);
  let assemblyFormat = "$a (`,` `lower` `=` custom<BareBool>($lower)^)? attr-dict `:` custom<SameTypes>(type($a), type($result))";
  let hasVerifier = 1;
}
def TriangularSolveOp : InferredOp<"triangular_solve", [Pure, DeclareOpInterfaceMethods<LibraryCallOpInterface>, LocalizedAs<"ByRule">]> {
  let arguments = (ins RealOrComplexTensor:$a, RealOrComplexTensor:$b, BoolAttr:$left_side, BoolAttr:$lower, BoolAttr:$unit_diagonal,
                       TransposeAttr:$transpose_a);
  let results = (outs RealOrComplexTensor:$result);
  let hasVerifier = 1;
}
def FftOp : InferredOp<"fft", [Pure, DeclareOpInterfaceMethods<LibraryCallOpInterface>, FollowsLaw<"Linear">, LocalizedAs<"ByRule">]> {
  let arguments = (ins RealOrComplexTensor:$operand, FftTypeAttr:$fft_type, DenseI64ArrayAttr:$fft_length);
  let results = (outs RealOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` custom<BareEnum>($fft_type) `,` `length` `=` custom<DimArray>($fft_length) attr-dict `:`
      functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def RngOp : InferredOp<"rng", [FusesAs<"Alone">, LocalizedAs<"ByRule">]> {
  let arguments = (ins PredIntOrRealTensor:$a, PredIntOrRealTensor:$b, DimensionTensor:$shape, RngDistributionAttr:$rng_distribution);
  let results = (outs AnyTensorValue:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` custom<BareEnum>($rng_distribution) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def RngBitGeneratorOp : Stablehlo_Op<"rng_bit_generator", [Pure, FusesAs<"Alone">, LocalizedAs<"ByRule">]> {
  let arguments = (ins RngAlgorithmAttr:$rng_algorithm, IntOrRealTensor:$initial_state);
  let results = (outs IntOrRealTensor:$output_state, IntOrRealTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<BareEnum>($rng_algorithm) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
#endif
