// Between real and quantized values.
#ifndef TESSERA_STABLEHLO_QUANTIZED
#define TESSERA_STABLEHLO_QUANTIZED
include "dialects/stablehlo/StablehloBase.td"

def UniformQuantizeOp : Stablehlo_Op<"uniform_quantize", [OneShape<1>, Pure, ComputesElements<>]> {
  let arguments = (ins FloatOrQuantizedTensor:$operand);
  let results = (outs QuantizedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}
def UniformDequantizeOp : Stablehlo_Op<"uniform_dequantize", [OneShape<1>, Pure, ComputesElements<>]> {
  let arguments = (ins QuantizedTensor:$operand);
  let results = (outs RealTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
#endif
