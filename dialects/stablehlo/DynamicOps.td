// Forms whose shapes come from values.
#ifndef TESSERA_STABLEHLO_DYNAMIC
#define TESSERA_STABLEHLO_DYNAMIC
include "dialects/stablehlo/StablehloBase.td"

class Dynamic<string mnemonic> : Stablehlo_Op<mnemonic, [Pure]> {
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def DynamicBroadcastInDimOp : Dynamic<"dynamic_broadcast_in_dim"> {
  let arguments = (ins PerAxisTensor:$operand, DimensionTensor:$output_dimensions, DenseI64ArrayAttr:$broadcast_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` custom<DimArray>($broadcast_dimensions) attr-dict `:` functional-type(operands, results)
  }];
}
def DynamicGatherOp : Dynamic<"dynamic_gather"> {
  let arguments = (ins AnyTensorValue:$operand, IntTensor:$start_indices, IntTensor:$slice_sizes,
                       GatherDimensionNumbersAttr:$dimension_numbers, DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let assemblyFormat = ?;
}
def DynamicIotaOp : Dynamic<"dynamic_iota"> {
  let arguments = (ins DimensionTensor:$output_shape, I64Attr:$iota_dimension);
  let results = (outs IntFloatOrComplexTensor:$result);
  let assemblyFormat = "$output_shape `,` `dim` `=` custom<BareInt>($iota_dimension) attr-dict `:` functional-type(operands, results)";
}
def DynamicPadOp : Dynamic<"dynamic_pad"> {
  let arguments = (ins AnyTensorValue:$operand, AnyTensorValue:$padding_value, DimensionTensor:$edge_padding_low,
                       DimensionTensor:$edge_padding_high, DimensionTensor:$interior_padding);
}
def DynamicReshapeOp : Dynamic<"dynamic_reshape"> {
  let arguments = (ins PerAxisTensor:$operand, DimensionTensor:$output_shape);
}
def RealDynamicSliceOp : Dynamic<"real_dynamic_slice"> {
  let arguments = (ins AnyTensorValue:$operand, DimensionTensor:$start_indices, DimensionTensor:$limit_indices, DimensionTensor:$strides);
}
def SetDimensionSizeOp : Dynamic<"set_dimension_size"> {
  let arguments = (ins AnyTensorValue:$operand, IntTensor:$size, I64Attr:$dimension);
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` custom<BareInt>($dimension) attr-dict `:` functional-type(operands, results)
  }];
}
#endif
