// What every op family shares: the dialect, type constraints, enums, structured attributes, op classes.
#ifndef TESSERA_STABLEHLO_BASE
#define TESSERA_STABLEHLO_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/interfaces/OpInterfaces.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::tessera::stablehlo";
  let summary = "The operations of the StableHLO specification";
  let description = [{
    Portable tensor programs as JAX and PyTorch export them. Names, attributes and text form are those
    of the public StableHLO specification, so that programs from elsewhere parse unchanged and what is
    printed here can be read by any other implementation.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::quant::QuantDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerElementwiseOps();
    void registerDataMovementOps();
    void registerReductionOps();
    void registerContractionOps();
    void registerControlFlowOps();
    void registerHostOps();
    void registerCollectiveOps();
    void registerLinearAlgebraOps();
    void registerDynamicOps();
    void registerQuantizedOps();
  }];
}

//===--------------------------------- Types ----------------------------------===//

class Stablehlo_Tensor<string kind, string summary>
    : Type<CPred<"::tessera::stablehlo::isTensorOf($_self, ::tessera::stablehlo::ElementKind::" # kind # ")">,
           summary, "::mlir::RankedTensorType">;

def AnyTensorValue : Stablehlo_Tensor<"Any", "ranked tensor, quantized per tensor at most">;
def PerAxisTensor : Stablehlo_Tensor<"PerAxis", "ranked tensor, quantized per axis or tensor">;
def FloatOrQuantizedTensor : Stablehlo_Tensor<"FloatOrQuantized", "ranked tensor of floating-point or quantized values">;
def PlainTensor : Stablehlo_Tensor<"Plain", "ranked tensor of values that are not quantized">;
def SignedFloatOrComplexTensor : Stablehlo_Tensor<"SignedFloatOrComplex", "ranked tensor of signed integer, floating-point or complex values">;
def PartTensor : Stablehlo_Tensor<"Part", "ranked tensor of f32 or f64 values">;
def PredTensor : Stablehlo_Tensor<"Pred", "ranked tensor of i1 values">;
def IntTensor : Stablehlo_Tensor<"Int", "ranked tensor of integer values">;
def PredOrIntTensor : Stablehlo_Tensor<"PredOrInt", "ranked tensor of i1 or integer values">;
def FloatTensor : Stablehlo_Tensor<"Float", "ranked tensor of floating-point values">;
def RealTensor : Stablehlo_Tensor<"Real", "ranked tensor of floating-point values that are not quantized">;
def IntOrRealTensor : Stablehlo_Tensor<"IntOrReal", "ranked tensor of integer or floating-point values that are not quantized">;
def PredIntOrRealTensor : Stablehlo_Tensor<"PredIntOrReal", "ranked tensor of i1, integer or floating-point values that are not quantized">;
def RealOrComplexTensor : Stablehlo_Tensor<"RealOrComplex", "ranked tensor of floating-point or complex values that are not quantized">;
def ComplexTensor : Stablehlo_Tensor<"Complex", "ranked tensor of complex values">;
def FloatOrComplexTensor : Stablehlo_Tensor<"FloatOrComplex", "ranked tensor of floating-point or complex values">;
def IntFloatOrComplexTensor : Stablehlo_Tensor<"IntFloatOrComplex", "ranked tensor of integer, floating-point or complex values">;
def QuantizedTensor : Stablehlo_Tensor<"Quantized", "ranked tensor of quantized values">;
def DimensionTensor : Stablehlo_Tensor<"Dimension", "ranked tensor of index or integer values">;

class Stablehlo_Type<string name, string m> : TypeDef<Stablehlo_Dialect, name> { let mnemonic = m; }
def TokenType : Stablehlo_Type<"Token", "token"> {
  let summary = "Orders operations that have effects";
}
def FutureType : Stablehlo_Type<"Future", "future"> {
  let summary = "The results of an asynchronous operation that may not be there yet";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
}
def TensorOrToken : AnyTypeOf<[PerAxisTensor, TokenType], "tensor or token">;
def AnyValue : Type<CPred<"::tessera::stablehlo::isValueType($_self)">, "value of the specification's types">;
def TupleValue : Type<CPred<"::llvm::isa<::mlir::TupleType>($_self)">, "tuple", "::mlir::TupleType">;

//===--------------------------------- Enums ----------------------------------===//

class Stablehlo_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Stablehlo_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}
class Stablehlo_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::tessera::stablehlo";
}

def ComparisonDirection : Stablehlo_Enum<"ComparisonDirection", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def ComparisonDirectionAttr : Stablehlo_EnumAttr<ComparisonDirection, "comparison_direction">;
def ComparisonType : Stablehlo_Enum<"ComparisonType", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def ComparisonTypeAttr : Stablehlo_EnumAttr<ComparisonType, "comparison_type">;
def FftType : Stablehlo_Enum<"FftType", [
  I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>, I32EnumAttrCase<"RFFT", 2>, I32EnumAttrCase<"IRFFT", 3>]>;
def FftTypeAttr : Stablehlo_EnumAttr<FftType, "fft_type">;
def Precision : Stablehlo_Enum<"Precision", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def PrecisionAttr : Stablehlo_EnumAttr<Precision, "precision">;
def Transpose : Stablehlo_Enum<"Transpose", [
  I32EnumAttrCase<"TRANSPOSE_INVALID", 0>, I32EnumAttrCase<"NO_TRANSPOSE", 1>,
  I32EnumAttrCase<"TRANSPOSE", 2>, I32EnumAttrCase<"ADJOINT", 3>]>;
def TransposeAttr : Stablehlo_EnumAttr<Transpose, "transpose">;
def RngDistribution : Stablehlo_Enum<"RngDistribution", [I32EnumAttrCase<"UNIFORM", 1>, I32EnumAttrCase<"NORMAL", 2>]>;
def RngDistributionAttr : Stablehlo_EnumAttr<RngDistribution, "rng_distribution">;
def RngAlgorithm : Stablehlo_Enum<"RngAlgorithm", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>]>;
def RngAlgorithmAttr : Stablehlo_EnumAttr<RngAlgorithm, "rng_algorithm">;
def ResultAccuracyMode : Stablehlo_Enum<"ResultAccuracyMode", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>, I32EnumAttrCase<"TOLERANCE", 2>]>;
def ResultAccuracyModeAttr : Stablehlo_EnumAttr<ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}
// A plain i32 in the text.
def CustomCallApiVersion : I32EnumAttr<"CustomCallApiVersion", "", [
  I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>, I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>, I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
  I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]> {
  let cppNamespace = "::tessera::stablehlo";
}

//===-------------------------- Structured attributes -------------------------===//

class Stablehlo_Attr<string name, string m> : AttrDef<Stablehlo_Dialect, name> { let mnemonic = m; }

// A list of dimensions, `[0, 1]` in the text and left out when empty.
def Dims : ArrayRefParameter<"int64_t">;

def DotDimensionNumbersAttr : Stablehlo_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "Which dimensions of a dot_general are batched and which contracted";
  let parameters = (ins Dims:$lhs_batching_dimensions, Dims:$rhs_batching_dimensions,
                        Dims:$lhs_contracting_dimensions, Dims:$rhs_contracting_dimensions);
  let hasCustomAssemblyFormat = 1;
}

def GatherDimensionNumbersAttr : Stablehlo_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "How a gather's operand, start indices and result relate";
  let parameters = (ins Dims:$offset_dims, Dims:$collapsed_slice_dims, Dims:$operand_batching_dims,
                        Dims:$start_indices_batching_dims, Dims:$start_index_map,
                        "int64_t":$index_vector_dim);
  let hasCustomAssemblyFormat = 1;
}

def ScatterDimensionNumbersAttr : Stablehlo_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "How a scatter's inputs, indices and updates relate";
  let parameters = (ins Dims:$update_window_dims, Dims:$inserted_window_dims, Dims:$input_batching_dims,
                        Dims:$scatter_indices_batching_dims, Dims:$scatter_dims_to_operand_dims,
                        "int64_t":$index_vector_dim);
  let hasCustomAssemblyFormat = 1;
}

def ConvDimensionNumbersAttr : Stablehlo_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "The role of each dimension of a convolution, as [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
  let parameters = (ins "int64_t":$input_batch_dimension, "int64_t":$input_feature_dimension,
                        ArrayRefParameter<"int64_t">:$input_spatial_dimensions,
                        "int64_t":$kernel_input_feature_dimension, "int64_t":$kernel_output_feature_dimension,
                        ArrayRefParameter<"int64_t">:$kernel_spatial_dimensions,
                        "int64_t":$output_batch_dimension, "int64_t":$output_feature_dimension,
                        ArrayRefParameter<"int64_t">:$output_spatial_dimensions);
  let hasCustomAssemblyFormat = 1;
}

def DotAlgorithmAttr : Stablehlo_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "The precisions at which a dot_general computes";
  let parameters = (ins "::mlir::Type":$lhs_precision_type, "::mlir::Type":$rhs_precision_type,
                        "::mlir::Type":$accumulation_type, "int64_t":$lhs_component_count,
                        "int64_t":$rhs_component_count, "int64_t":$num_primitive_operations,
                        "bool":$allow_imprecise_accumulation);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ChannelHandleAttr : Stablehlo_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "Names the channel of a collective or transfer";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def OutputOperandAliasAttr : Stablehlo_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "A result of a custom call that lives in an operand's buffer";
  let parameters = (ins ArrayRefParameter<"int64_t">:$output_tuple_indices, "int64_t":$operand_index,
                        ArrayRefParameter<"int64_t">:$operand_tuple_indices);
  let hasCustomAssemblyFormat = 1;
}

def ResultAccuracyAttr : Stablehlo_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "How accurate a transcendental function must be";
  let constBuilderCall = "::tessera::stablehlo::defaultAccuracy($_builder.getContext())";
  let parameters = (ins "::llvm::APFloat":$atol, "::llvm::APFloat":$rtol, "int64_t":$ulps, "ResultAccuracyModeAttr":$mode);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TypeExtensionsAttr : Stablehlo_Attr<"TypeExtensions", "bounds"> {
  let summary = "Upper bounds of a tensor type's dynamic dimensions, as #stablehlo.bounds<4, ?>";
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
}

// Groups of devices by the axes of a mesh, instead of a table of numbers.
def MeshAxisAttr : Stablehlo_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "An axis of a mesh: its name and size";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}
def MeshAttr : Stablehlo_Attr<"Mesh", "mesh"> {
  let summary = "A grid of devices with named axes; device_ids says which device is where, where it is not in row-major order";
  let parameters = (ins ArrayRefParameter<"MeshAxisAttr">:$axes, OptionalParameter<"::mlir::DenseIntElementsAttr">:$device_ids);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def SubAxisInfoAttr : Stablehlo_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "A part of an axis: (product of the parts before it)size";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}
def AxisRefAttr : Stablehlo_Attr<"AxisRef", "axis_ref"> {
  let summary = "An axis, or a part of one";
  let parameters = (ins StringRefParameter<>:$name, OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}
def ReplicaGroupMeshAxesAttr : Stablehlo_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let summary = "Groups of the devices that differ along these axes only";
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def ReplicaGroups : Attr<CPred<"::tessera::stablehlo::isReplicaGroups($_self)">,
                         "64-bit signless integer elements attribute or groups by mesh axes"> {
  let storageType = "::mlir::Attribute";
  // The table, null where the groups are given by axes; import writes those as tables.
  let returnType = "::mlir::DenseIntElementsAttr";
  let convertFromStorage = "::llvm::dyn_cast_or_null<::mlir::DenseIntElementsAttr>($_self)";
}

def PrecisionConfig : TypedArrayAttrBase<PrecisionAttr, "precision of each operand">;
def FlatSymbolRefs : TypedArrayAttrBase<FlatSymbolRefAttr, "symbols">;
def Layouts : TypedArrayAttrBase<AnyAttr, "layouts">;
def OperandAliases : TypedArrayAttrBase<OutputOperandAliasAttr, "aliases">;

//===------------------------------- Op classes -------------------------------===//

class Stablehlo_Op<string mnemonic, list<Trait> traits = []> : Op<Stablehlo_Dialect, mnemonic, traits>;

// Operands and result of one shape.
class OneShape<int constraint> : NativeOpTrait<"OneShape<" # constraint # ">::Impl"> {
  let cppNamespace = "::tessera::stablehlo";
}

// Operands and result of one type, up to sizes that are not known and the parameters of quantized
// elements. The result's type follows from the operands' when it isn't given.
class OneType<int constraint> : NativeOpTrait<"OneType<" # constraint # ">::Impl"> {
  let cppNamespace = "::tessera::stablehlo";
}
class OneTypeOp<string mnemonic, list<Trait> traits = [], int constraint = 1>
    : Stablehlo_Op<mnemonic, [OneType<constraint>] # traits #
                             [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange a, ::mlir::TypeRange b) { return ::tessera::stablehlo::typesAgree(a, b); }
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location>, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::tessera::stablehlo::inferOneType(operands, types);
    }
  }];
}

// The types of the results follow from operands, attributes and regions: `inferTypes` (TypeInference.cpp),
// by which builders go that are given none. The op's verifier compares, with the numbers of the specification's
// constraints.
class InferredOp<string mnemonic, list<Trait> traits = []>
    : Stablehlo_Op<mnemonic, traits # [DeclareOpInterfaceMethods<InferTypeOpInterface, ["refineReturnTypes"]>]> {
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferTypes(Adaptor op, ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location>, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferTypes(Adaptor(operands, attributes, properties, regions), types);
    }
    ::llvm::LogicalResult $cppClass::refineReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location>, ::mlir::ValueRange,
        ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::llvm::success();
    }
  }];
}

#endif
