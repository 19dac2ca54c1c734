// One result element from the operands' elements at the same index.
#ifndef TESSERA_STABLEHLO_ELEMENTWISE
#define TESSERA_STABLEHLO_ELEMENTWISE
include "dialects/stablehlo/StablehloBase.td"

//===--------------------------------- Unary ----------------------------------===//

class Unary<string mnemonic, TypeConstraint type, list<Trait> traits = [ComputesElements<>]> : OneTypeOp<mnemonic, traits # [Pure]> {
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}
// The result has other elements than the operand.
class UnaryTo<string mnemonic, TypeConstraint type, TypeConstraint resultType, list<Trait> traits = [ComputesElements<>]>
    : Stablehlo_Op<mnemonic, [OneShape<1>, Pure] # traits> {
  let arguments = (ins type:$operand);
  let results = (outs resultType:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}
class UnaryAccurate<string mnemonic> : Unary<mnemonic, FloatOrComplexTensor, [ComputesElements<"Expensive">]> {
  let arguments = (ins FloatOrComplexTensor:$operand,
                       DefaultValuedOptionalAttr<ResultAccuracyAttr, "ResultAccuracyMode::DEFAULT">:$result_accuracy);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{ build($_builder, $_state, operand, ResultAccuracyAttr()); }]>];
}

def AbsOp : UnaryTo<"abs", SignedFloatOrComplexTensor, SignedFloatOrComplexTensor> {
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$operand)>];
}
def CbrtOp : UnaryAccurate<"cbrt">;
def CeilOp : Unary<"ceil", FloatTensor>;
def ConvertOp : UnaryTo<"convert", PlainTensor, PlainTensor, [ComputesElements<"Cheap", "Convert">, FollowsLaw<"Convert">]> {
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def CosineOp : UnaryAccurate<"cosine">;
def ClzOp : Unary<"count_leading_zeros", IntTensor>;
def ExpOp : UnaryAccurate<"exponential">;
def Expm1Op : UnaryAccurate<"exponential_minus_one">;
def FloorOp : Unary<"floor", FloatTensor>;
def ImagOp : UnaryTo<"imag", FloatOrComplexTensor, FloatTensor, [ComputesElements<>, FollowsLaw<"Linear">]> {
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$operand)>];
  let hasFolder = 1;
}
def IsFiniteOp : Stablehlo_Op<"is_finite", [OneShape<1>, Pure, ComputesElements<>]> {
  let arguments = (ins FloatTensor:$x);
  let results = (outs PredTensor:$y);
  let builders = [OpBuilder<(ins "::mlir::Value":$x)>];
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
def LogOp : UnaryAccurate<"log">;
def Log1pOp : UnaryAccurate<"log_plus_one">;
def LogisticOp : UnaryAccurate<"logistic">;
def NegOp : Unary<"negate", IntFloatOrComplexTensor, [ComputesElements<>, FollowsLaw<"Linear">]> { let hasFolder = 1; }
def NotOp : Unary<"not", PredOrIntTensor> { let hasFolder = 1; }
def PopulationCountOp : Unary<"popcnt", IntTensor>;
def RealOp : UnaryTo<"real", FloatOrComplexTensor, FloatTensor, [ComputesElements<>, FollowsLaw<"Linear">]> {
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$operand)>];
  let hasFolder = 1;
}
def RoundNearestAfzOp : Unary<"round_nearest_afz", FloatTensor>;
def RoundNearestEvenOp : Unary<"round_nearest_even", FloatTensor>;
def RsqrtOp : UnaryAccurate<"rsqrt">;
def SignOp : Unary<"sign", SignedFloatOrComplexTensor>;
def SineOp : UnaryAccurate<"sine">;
def SqrtOp : UnaryAccurate<"sqrt">;
def TanOp : UnaryAccurate<"tan">;
def TanhOp : UnaryAccurate<"tanh">;

def BitcastConvertOp : Stablehlo_Op<"bitcast_convert", [Pure, DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let arguments = (ins PerAxisTensor:$operand);
  let results = (outs PerAxisTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def ReducePrecisionOp : OneTypeOp<"reduce_precision", [Pure, ComputesElements<>]> {
  let arguments = (ins FloatTensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs FloatTensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict `:`
      custom<SameTypes>(type($operand), type($output))
  }];
  let hasVerifier = 1;
}

//===--------------------------------- Binary ---------------------------------===//

class Binary<string mnemonic, TypeConstraint type = AnyTensorValue, list<Trait> traits = [], Trait elementwise = ComputesElements<>>
    : OneTypeOp<mnemonic, traits # [Pure, elementwise]> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<SameTypes>(type($lhs), type($rhs), type($result))";
}

let hasFolder = 1 in {
def AddOp : Binary<"add", PerAxisTensor, [Commutative, FollowsLaw<"Add">]> { let hasVerifier = 1; }
def AndOp : Binary<"and", PredOrIntTensor, [Commutative, FollowsLaw<"And">]>;
def DivOp : Binary<"divide", IntFloatOrComplexTensor, [FollowsLaw<"Divide">], DeclareOpInterfaceMethods<ElementwiseOpInterface>>;
def MaxOp : Binary<"maximum", AnyTensorValue, [Commutative, FollowsLaw<"Maximum">]>;
def MinOp : Binary<"minimum", AnyTensorValue, [Commutative, FollowsLaw<"Minimum">]>;
def MulOp : Binary<"multiply", AnyTensorValue, [Commutative, FollowsLaw<"Multiply">]>;
def OrOp : Binary<"or", PredOrIntTensor, [Commutative, FollowsLaw<"Or">]>;
def RemOp : Binary<"remainder", IntFloatOrComplexTensor, [], ComputesElements<"Expensive">>;
def ShiftLeftOp : Binary<"shift_left", IntTensor>;
def ShiftRightArithmeticOp : Binary<"shift_right_arithmetic", IntTensor>;
def ShiftRightLogicalOp : Binary<"shift_right_logical", IntTensor>;
def SubtractOp : Binary<"subtract", IntFloatOrComplexTensor, [FollowsLaw<"Subtract">]>;
def XorOp : Binary<"xor", PredOrIntTensor, [Commutative]>;
}
def Atan2Op : Binary<"atan2", FloatOrComplexTensor, [], ComputesElements<"Expensive">>;
def PowOp : Binary<"power", IntFloatOrComplexTensor, [], ComputesElements<"Expensive">>;

def ComplexOp : Stablehlo_Op<"complex", [OneShape<2>, Pure, ComputesElements<>, FollowsLaw<"Pair">]> {
  let arguments = (ins PartTensor:$lhs, PartTensor:$rhs);
  let results = (outs ComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
  let assemblyFormat = "operands attr-dict `:` custom<ComplexTypes>(type($lhs), type($rhs), type($result))";
  let hasVerifier = 1;
}

def CompareOp : Stablehlo_Op<"compare", [OneShape<2>, Pure, ComputesElements<>]> {
  let arguments = (ins AnyTensorValue:$lhs, AnyTensorValue:$rhs,
                       ComparisonDirectionAttr:$comparison_direction, OptionalAttr<ComparisonTypeAttr>:$compare_type);
  let results = (outs PredTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "ComparisonDirection":$direction,
                                 CArg<"ComparisonType", "ComparisonType::NOTYPE">:$type)>];
  let assemblyFormat = [{
    custom<BareEnum>($comparison_direction) `,` $lhs `,` $rhs (`,` custom<BareEnum>($compare_type)^)? attr-dict `:`
      functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===-------------------------------- Ternary ---------------------------------===//

def ClampOp : Stablehlo_Op<"clamp", [Pure, ComputesElements<>]> {
  let arguments = (ins AnyTensorValue:$min, AnyTensorValue:$operand, AnyTensorValue:$max);
  let results = (outs AnyTensorValue:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$min, "::mlir::Value":$operand, "::mlir::Value":$max)>];
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:` custom<SameTypes>(type($min), type($operand), type($max), type($result))
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}
def SelectOp : Stablehlo_Op<"select", [Pure, ComputesElements<>, FollowsLaw<"Select">]> {
  let arguments = (ins PredTensor:$pred, AnyTensorValue:$on_true, AnyTensorValue:$on_false);
  let results = (outs AnyTensorValue:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$pred, "::mlir::Value":$on_true, "::mlir::Value":$on_false)>];
  let assemblyFormat = [{
    operands attr-dict `:` custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}
#endif
