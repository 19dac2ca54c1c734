// Sums of products: dot products, convolutions, einsum.
#ifndef TESSERA_STABLEHLO_CONTRACTION
#define TESSERA_STABLEHLO_CONTRACTION
include "dialects/stablehlo/StablehloBase.td"

def DotGeneralOp : InferredOp<"dot_general", [Pure, FollowsLaw<"Contract">, FusesAs<"Contraction">, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let arguments = (ins AnyTensorValue:$lhs, PerAxisTensor:$rhs, DotDimensionNumbersAttr:$dot_dimension_numbers,
                       OptionalAttr<PrecisionConfig>:$precision_config, OptionalAttr<DotAlgorithmAttr>:$algorithm);
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensions>($dot_dimension_numbers) `` custom<PrecisionAndAlgorithm>($precision_config, $algorithm)
      attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def DotOp : InferredOp<"dot", [Pure, FollowsLaw<"Contract">, FusesAs<"Contraction">, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let arguments = (ins AnyTensorValue:$lhs, PerAxisTensor:$rhs, OptionalAttr<PrecisionConfig>:$precision_config);
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<PrecisionList>($precision_config) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def ConvolutionOp : InferredOp<"convolution", [Pure, FollowsLaw<"Contract">, FusesAs<"Contraction">, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let arguments = (ins AnyTensorValue:$lhs, PerAxisTensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding, OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation, OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       ConvDimensionNumbersAttr:$dimension_numbers, I64Attr:$feature_group_count, I64Attr:$batch_group_count,
                       OptionalAttr<PrecisionConfig>:$precision_config);
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,` `window` `=` `{`
      custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal) `}` attr-dict `:`
      functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def DynamicConvOp : Stablehlo_Op<"dynamic_conv", [Pure]> {
  let arguments = (ins AnyTensorValue:$lhs, PerAxisTensor:$rhs, IntTensor:$padding, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation, OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal, ConvDimensionNumbersAttr:$dimension_numbers,
                       I64Attr:$feature_group_count, I64Attr:$batch_group_count, OptionalAttr<PrecisionConfig>:$precision_config);
  let results = (outs PerAxisTensor:$result);
  let hasVerifier = 1;
}
def EinsumOp : Stablehlo_Op<"einsum", [Pure]> {
  let arguments = (ins AnyTensorValue:$lhs, PerAxisTensor:$rhs, StrAttr:$einsum_config);
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
}
def UnaryEinsumOp : Stablehlo_Op<"unary_einsum", [Pure]> {
  let arguments = (ins AnyTensorValue:$operand, StrAttr:$einsum_config);
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
}
#endif
