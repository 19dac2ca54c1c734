// Client operations: what frontends emit beyond the StableHLO specification.
#ifndef TESSERA_CHLO_OPS
#define TESSERA_CHLO_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/interfaces/OpInterfaces.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::tessera::chlo";
  let summary = "Operations that frontends emit beyond the StableHLO specification";
  let description = [{
    Functions such as erf and top_k that a compiler takes apart into StableHLO, and elementwise operations
    with implicit broadcasting. Import leaves those functions only that kernels compute.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
  let extraClassDeclaration = [{
    void registerBroadcastOps();
  }];
}

def ComparisonDirection : I32EnumAttr<"ComparisonDirection", "", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::tessera::chlo";
}
def ComparisonDirectionAttr : EnumAttr<Chlo_Dialect, ComparisonDirection, "comparison_direction"> {
  let assemblyFormat = "$value";
}
def ComparisonType : I32EnumAttr<"ComparisonType", "", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::tessera::chlo";
}
def ComparisonTypeAttr : EnumAttr<Chlo_Dialect, ComparisonType, "comparison_type"> {
  let assemblyFormat = "$value";
}
def Precision : I32EnumAttr<"Precision", "", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::tessera::chlo";
}
def PrecisionAttr : EnumAttr<Chlo_Dialect, Precision, "precision"> {
  let assemblyFormat = "$value";
}
def PrecisionConfig : TypedArrayAttrBase<PrecisionAttr, "precision of each operand">;

def RaggedDotDimensionNumbersAttr : AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "Which dimensions of a ragged_dot are batched, contracted, ragged or groups";
  let parameters = (ins ArrayRefParameter<"int64_t">:$lhs_batching_dimensions,
                        ArrayRefParameter<"int64_t">:$rhs_batching_dimensions,
                        ArrayRefParameter<"int64_t">:$lhs_contracting_dimensions,
                        ArrayRefParameter<"int64_t">:$rhs_contracting_dimensions,
                        ArrayRefParameter<"int64_t">:$lhs_ragged_dimensions,
                        ArrayRefParameter<"int64_t">:$rhs_group_dimensions);
  let hasCustomAssemblyFormat = 1;
}

class ElementsOf<string kind, string summary>
    : Type<CPred<"::tessera::stablehlo::isTensorOf($_self, ::tessera::stablehlo::ElementKind::" # kind # ")">, summary, "::mlir::RankedTensorType">;
def Tensor : ElementsOf<"Any", "ranked tensor, quantized per tensor at most">;
def PredOrIntTensor : ElementsOf<"PredOrInt", "ranked tensor of i1 or integer values">;
def IntTensor : ElementsOf<"Int", "ranked tensor of integer values">;
def FloatTensor : ElementsOf<"Real", "ranked tensor of floating-point values">;
def FloatOrComplexTensor : ElementsOf<"RealOrComplex", "ranked tensor of floating-point or complex values">;
def ComplexTensor : ElementsOf<"Complex", "ranked tensor of complex values">;
def PredTensor : ElementsOf<"Pred", "ranked tensor of i1 values">;

// Stays one operation up to the kernel that computes it; of the others import makes StableHLO.
def IsKernelFunction : NativeOpTrait<"IsKernelFunction"> { let cppNamespace = "::tessera::chlo"; }

class Chlo_Op<string mnemonic, list<Trait> traits = []> : Op<Chlo_Dialect, mnemonic, traits # [Pure]>;

// Operands and result of one type, up to sizes that are not known.
class OneTypeOp<string mnemonic, list<Trait> traits = []> : Chlo_Op<mnemonic, traits # [SameOperandsAndResultType]> {
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange a, ::mlir::TypeRange b) { return ::tessera::stablehlo::typesAgree(a, b); }
  }];
}

//===------------------------------- Elementwise ------------------------------===//

class Unary<string mnemonic, TypeConstraint type = FloatOrComplexTensor, list<Trait> traits = [ComputesElements<>]>
    : OneTypeOp<mnemonic, traits> {
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
class KernelFunction<string mnemonic> : Unary<mnemonic, FloatTensor, [ComputesElements<"Expensive">, IsKernelFunction]>;
def AcosOp : Unary<"acos">;
def AcoshOp : Unary<"acosh">;
def AsinAcosKernelOp : Unary<"_asin_acos_kernel", ComplexTensor>;
def AsinOp : Unary<"asin">;
def AsinhOp : Unary<"asinh">;
def AtanOp : Unary<"atan">;
def AtanhOp : Unary<"atanh">;
def BesselI1eOp : Unary<"bessel_i1e">;
def ConjOp : Unary<"conj">;
def CoshOp : Unary<"cosh">;
def DigammaOp : Unary<"digamma", FloatTensor>;
def ErfInvOp : Unary<"erf_inv", FloatTensor>;
def ErfOp : KernelFunction<"erf">;
def ErfcOp : KernelFunction<"erfc">;
def LgammaOp : Unary<"lgamma", FloatTensor>;
def SinhOp : Unary<"sinh">;
def SquareOp : Unary<"square">;
def TanOp : Unary<"tan">;

class Classify<string mnemonic> : Chlo_Op<mnemonic, [ComputesElements<>, SameOperandsAndResultShape]> {
  let arguments = (ins FloatTensor:$operand);
  let results = (outs PredTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
def IsInfOp : Classify<"is_inf">;
def IsNegInfOp : Classify<"is_neg_inf">;
def IsPosInfOp : Classify<"is_pos_inf">;

class Binary<string mnemonic, dag operands> : OneTypeOp<mnemonic, [ComputesElements<>]> {
  let arguments = operands;
  let results = (outs Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` type(operands) `->` type($result)";
}
def MulhiOp : Binary<"mulhi", (ins IntTensor:$lhs, IntTensor:$rhs)>;
def NextAfterOp : Binary<"next_after", (ins FloatTensor:$x, FloatTensor:$y)>;
def PolygammaOp : Binary<"polygamma", (ins FloatTensor:$n, FloatTensor:$x)>;
def ZetaOp : Binary<"zeta", (ins FloatTensor:$x, FloatTensor:$q)>;

def ConstantOp : Chlo_Op<"constant", [ConstantLike, AllTypesMatch<["value", "output"]>]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}
def ConstantLikeOp : Chlo_Op<"constant_like", [ComputesElements<>, SameOperandsAndResultShape]> {
  let arguments = (ins TypedAttrInterface:$value, Tensor:$operand);
  let results = (outs Tensor:$result);
  let hasVerifier = 1;
}

//===---------------------------------- Others --------------------------------===//

def TopKOp : Chlo_Op<"top_k"> {
  let arguments = (ins Tensor:$operand, I64Attr:$k);
  let results = (outs Tensor:$values, Tensor:$indices);
  let assemblyFormat = "`(` $operand `,` `k` `=` custom<BareInt>($k) `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`";
  let hasVerifier = 1;
}
def RaggedDotOp : Chlo_Op<"ragged_dot"> {
  let arguments = (ins Tensor:$lhs, Tensor:$rhs, IntTensor:$group_sizes, RaggedDotDimensionNumbersAttr:$ragged_dot_dimension_numbers,
                       OptionalAttr<PrecisionConfig>:$precision_config);
  let results = (outs Tensor:$result);
  let hasVerifier = 1;
}
def ScanOp : Op<Chlo_Dialect, "scan", [RecursiveMemoryEffects, AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames", "getAsmBlockArgumentNames"]>]> {
  let arguments = (ins Variadic<Tensor>:$inputs, Variadic<Tensor>:$inits, I64Attr:$dimension, OptionalAttr<I64Attr>:$scan_dim_size,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse, OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<Tensor>:$outputs, Variadic<Tensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
#endif
