// Elements keep their values and change their places; constants and iota make them.
#ifndef TESSERA_STABLEHLO_DATA_MOVEMENT
#define TESSERA_STABLEHLO_DATA_MOVEMENT
include "dialects/stablehlo/StablehloBase.td"

def ConstantOp : Stablehlo_Op<"constant", [Pure, ConstantLike, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
                                          DeclareOpInterfaceMethods<FusionOpInterface>, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs PerAxisTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{ build($_builder, $_state, value.getType(), value); }]>];
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}
def IotaOp : Stablehlo_Op<"iota", [Pure, FusesAs<"Constant">]> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs IntFloatOrComplexTensor:$output);
  let assemblyFormat = "`dim` `=` custom<BareInt>($iota_dimension) attr-dict `:` type($output)";
  let hasVerifier = 1;
}
def BroadcastOp : InferredOp<"broadcast", [Pure, FollowsLaw<"Move">]> {
  let arguments = (ins AnyTensorValue:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs AnyTensorValue:$result);
  let assemblyFormat = "$operand `,` `sizes` `=` custom<DimArray>($broadcast_sizes) attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def BroadcastInDimOp : Stablehlo_Op<"broadcast_in_dim", [Pure, FollowsLaw<"Move">, FusesAs<"Broadcast">]> {
  let arguments = (ins PerAxisTensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` custom<DimArray>($broadcast_dimensions) attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
def ConcatenateOp : InferredOp<"concatenate", [Pure, FollowsLaw<"Concatenate">, DeclareOpInterfaceMethods<FusionOpInterface, ["getOperandUse"]>]> {
  let arguments = (ins Variadic<AnyTensorValue>:$inputs, I64Attr:$dimension);
  let results = (outs AnyTensorValue:$result);
  let assemblyFormat = "custom<OperandsThenDim>($inputs, $dimension) attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def DynamicSliceOp : InferredOp<"dynamic_slice", [Pure, FollowsLaw<"Move">, FusesAs<"Slice">]> {
  let arguments = (ins AnyTensorValue:$operand, Variadic<IntTensor>:$start_indices, DenseI64ArrayAttr:$slice_sizes);
  let results = (outs AnyTensorValue:$result);
  let assemblyFormat = "custom<OperandsThenSizes>($operand, $start_indices, $slice_sizes) attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
def DynamicUpdateSliceOp : InferredOp<"dynamic_update_slice", [Pure, FollowsLaw<"Insert">, FusesAs<"Update">]> {
  let arguments = (ins AnyTensorValue:$operand, AnyTensorValue:$update, Variadic<IntTensor>:$start_indices);
  let results = (outs AnyTensorValue:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def GatherOp : InferredOp<"gather", [Pure, FollowsLaw<"Move">, DeclareOpInterfaceMethods<FusionOpInterface, ["getOperandUse"]>]> {
  let arguments = (ins AnyTensorValue:$operand, IntTensor:$start_indices, GatherDimensionNumbersAttr:$dimension_numbers,
                       DenseI64ArrayAttr:$slice_sizes, DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs AnyTensorValue:$result);
  let hasVerifier = 1;
}
def GetDimensionSizeOp : InferredOp<"get_dimension_size", [Pure]> {
  let arguments = (ins PerAxisTensor:$operand, I64Attr:$dimension);
  let results = (outs IntTensor:$result);
  let assemblyFormat = "$operand `,` `dim` `=` custom<BareInt>($dimension) attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def PadOp : InferredOp<"pad", [Pure, FollowsLaw<"Insert">, FusesAs<"Movement">]> {
  let arguments = (ins AnyTensorValue:$operand, AnyTensorValue:$padding_value, DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high, DenseI64ArrayAttr:$interior_padding);
  let results = (outs AnyTensorValue:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` custom<DimArray>($edge_padding_low) `,` `high` `=`
      custom<DimArray>($edge_padding_high) `,` `interior` `=` custom<DimArray>($interior_padding) attr-dict `:`
      functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}
def ReshapeOp : Stablehlo_Op<"reshape", [Pure, FollowsLaw<"Move">, FusesAs<"Reshape">]> {
  let arguments = (ins PerAxisTensor:$operand);
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
def ReverseOp : OneTypeOp<"reverse", [Pure, FollowsLaw<"Move">, FusesAs<"Movement">]> {
  let arguments = (ins AnyTensorValue:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs AnyTensorValue:$result);
  let assemblyFormat = "$operand `,` `dims` `=` custom<DimArray>($dimensions) attr-dict `:` custom<SameTypes>(type($operand), type($result))";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def SliceOp : InferredOp<"slice", [Pure, FollowsLaw<"Move">, FusesAs<"Slice">]> {
  let arguments = (ins AnyTensorValue:$operand, DenseI64ArrayAttr:$start_indices, DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs AnyTensorValue:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}
def TorchIndexSelectOp : Stablehlo_Op<"torch_index_select", [Pure]> {
  let arguments = (ins AnyTensorValue:$operand, IntTensor:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs AnyTensorValue:$result);
}
def TransposeOp : InferredOp<"transpose", [Pure, FollowsLaw<"Move">, FusesAs<"Transpose">]> {
  let arguments = (ins PerAxisTensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` custom<DimArray>($permutation) attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
#endif
