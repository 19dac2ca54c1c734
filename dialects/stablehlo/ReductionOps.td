// Ops that combine elements by a region: reductions, windows, scatter, sort, map, and batch normalisation.
#ifndef TESSERA_STABLEHLO_REDUCTION
#define TESSERA_STABLEHLO_REDUCTION
include "dialects/stablehlo/StablehloBase.td"

def ReduceOp : InferredOp<"reduce", [RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize,
                                       FollowsLaw<"Reduce">, FusesAs<"Reduce">, DeclareOpInterfaceMethods<CostOpInterface>,
                                       SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<AnyTensorValue>:$inputs, Variadic<AnyTensorValue>:$init_values, DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<AnyTensorValue>);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def ReduceWindowOp : InferredOp<"reduce_window", [RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize,
                                                    FollowsLaw<"Reduce">, FusesAs<"Alone">,
                                                    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<AnyTensorValue>:$inputs, Variadic<AnyTensorValue>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations, OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Variadic<AnyTensorValue>);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}
def SelectAndScatterOp : InferredOp<"select_and_scatter", [FusesAs<"Alone">, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let arguments = (ins AnyTensorValue:$operand, AnyTensorValue:$source, AnyTensorValue:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs AnyTensorValue);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let hasVerifier = 1;
}
def ScatterOp : InferredOp<"scatter", [RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize,
                                         FollowsLaw<"Scatter">, FusesAs<"Alone">,
                                         SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<AnyTensorValue>:$inputs, IntTensor:$scatter_indices, Variadic<AnyTensorValue>:$updates,
                       ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Variadic<AnyTensorValue>);
  let regions = (region SizedRegion<1>:$update_computation);
  let hasVerifier = 1;
}
def SortOp : InferredOp<"sort", [FusesAs<"Alone">, LocalizedAs<"ByRule">, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let arguments = (ins Variadic<AnyTensorValue>:$inputs, DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<AnyTensorValue>);
  let regions = (region SizedRegion<1>:$comparator);
  let hasVerifier = 1;
}
def MapOp : InferredOp<"map", [LocalizedAs<"Elementwise">, RecursiveMemoryEffects, RecursivelySpeculatable,
                                 SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<AnyTensorValue>:$inputs, DenseI64ArrayAttr:$dimensions);
  let results = (outs AnyTensorValue:$result);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}
def BatchNormTrainingOp : InferredOp<"batch_norm_training", [Pure]> {
  let arguments = (ins FloatTensor:$operand, FloatTensor:$scale, FloatTensor:$offset, F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs FloatTensor:$output, FloatTensor:$batch_mean, FloatTensor:$batch_var);
  let hasVerifier = 1;
}
def BatchNormInferenceOp : InferredOp<"batch_norm_inference", [Pure]> {
  let arguments = (ins FloatTensor:$operand, FloatTensor:$scale, FloatTensor:$offset, FloatTensor:$mean, FloatTensor:$variance,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs FloatTensor:$result);
  let hasVerifier = 1;
}
def BatchNormGradOp : InferredOp<"batch_norm_grad", [Pure]> {
  let arguments = (ins FloatTensor:$operand, FloatTensor:$scale, FloatTensor:$mean, FloatTensor:$variance, FloatTensor:$grad_output,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs FloatTensor:$grad_operand, FloatTensor:$grad_scale, FloatTensor:$grad_offset);
  let hasVerifier = 1;
}
#endif
