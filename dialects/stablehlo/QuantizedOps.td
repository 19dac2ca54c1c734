// Between real and quantized values.
#ifndef TESSERA_STABLEHLO_QUANTIZED
#define TESSERA_STABLEHLO_QUANTIZED
include "dialects/stablehlo/StablehloBase.td"

def UniformQuantizeOp : Stablehlo_Op<"uniform_quantize", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let arguments = (ins AnyTensorValue:$operand);
  let results = (outs QuantizedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def UniformDequantizeOp : Stablehlo_Op<"uniform_dequantize", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let arguments = (ins QuantizedTensor:$operand);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
#endif
