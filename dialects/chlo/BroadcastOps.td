// Elementwise operations with implicit broadcasting of their operands.
#ifndef TESSERA_CHLO_BROADCAST_OPS
#define TESSERA_CHLO_BROADCAST_OPS
include "dialects/chlo/ChloOps.td"

class Broadcast<string mnemonic, list<Trait> traits = [], TypeConstraint type = Tensor> : Chlo_Op<mnemonic, traits> {
  let hasVerifier = 1;
  let arguments = (ins type:$lhs, type:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)";
}
def BroadcastAddOp : Broadcast<"broadcast_add", [Commutative]>;
def BroadcastAndOp : Broadcast<"broadcast_and", [Commutative], PredOrIntTensor>;
def BroadcastAtan2Op : Broadcast<"broadcast_atan2">;
def BroadcastComplexOp : Broadcast<"broadcast_complex">;
def BroadcastDivOp : Broadcast<"broadcast_divide">;
def BroadcastMaxOp : Broadcast<"broadcast_maximum", [Commutative]>;
def BroadcastMinOp : Broadcast<"broadcast_minimum", [Commutative]>;
def BroadcastMulOp : Broadcast<"broadcast_multiply", [Commutative]>;
def BroadcastNextAfterOp : Broadcast<"broadcast_next_after", [], FloatTensor>;
def BroadcastOrOp : Broadcast<"broadcast_or", [Commutative], PredOrIntTensor>;
def BroadcastPolygammaOp : Broadcast<"broadcast_polygamma", [], FloatTensor>;
def BroadcastPowOp : Broadcast<"broadcast_power">;
def BroadcastRemOp : Broadcast<"broadcast_remainder">;
def BroadcastShiftLeftOp : Broadcast<"broadcast_shift_left", [], IntTensor>;
def BroadcastShiftRightArithmeticOp : Broadcast<"broadcast_shift_right_arithmetic", [], IntTensor>;
def BroadcastShiftRightLogicalOp : Broadcast<"broadcast_shift_right_logical", [], IntTensor>;
def BroadcastSubOp : Broadcast<"broadcast_subtract">;
def BroadcastXorOp : Broadcast<"broadcast_xor", [Commutative], PredOrIntTensor>;
def BroadcastZetaOp : Broadcast<"broadcast_zeta", [], FloatTensor>;

def BroadcastCompareOp : Chlo_Op<"broadcast_compare"> {
  let hasVerifier = 1;
  let arguments = (ins Tensor:$lhs, Tensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
                       ComparisonDirectionAttr:$comparison_direction, OptionalAttr<ComparisonTypeAttr>:$compare_type);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)";
}
def BroadcastSelectOp : Chlo_Op<"broadcast_select"> {
  let hasVerifier = 1;
  let arguments = (ins PredTensor:$pred, Tensor:$on_true, Tensor:$on_false);
  let results = (outs Tensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:` `(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->` type($result)
  }];
}
#endif
