// Loops, branches, terminators, tuples, barriers, and operations that stand for a computation elsewhere.
#ifndef TESSERA_STABLEHLO_CONTROL_FLOW
#define TESSERA_STABLEHLO_CONTROL_FLOW
include "mlir/IR/SymbolInterfaces.td"
include "dialects/stablehlo/StablehloBase.td"

def ReturnOp : Stablehlo_Op<"return", [Pure, Terminator]> {
  let arguments = (ins Variadic<AnyValue>:$results);
  let builders = [OpBuilder<(ins), [{ }]>];
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}
def WhileOp : InferredOp<"while", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">,
                                     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let arguments = (ins Variadic<AnyValue>:$operand);
  let results = (outs Variadic<AnyValue>);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def IfOp : InferredOp<"if", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins PredTensor:$pred);
  let results = (outs Variadic<AnyValue>);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def CaseOp : InferredOp<"case", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins IntTensor:$index);
  let results = (outs Variadic<AnyValue>);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def OptimizationBarrierOp : InferredOp<"optimization_barrier", [Pure]> {
  let arguments = (ins Variadic<AnyValue>:$operand);
  let results = (outs Variadic<AnyValue>:$result);
  let assemblyFormat = "attr-dict ($operand^ `:` custom<PairwiseTypes>(type($operand), type($result))):(`(` `)`)?";
  let hasVerifier = 1;
}
def TupleOp : InferredOp<"tuple", [Pure]> {
  let arguments = (ins Variadic<AnyValue>:$val);
  let results = (outs TupleValue:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleTypes>(type($val), type($result))";
  let hasVerifier = 1;
}
def GetTupleElementOp : InferredOp<"get_tuple_element", [Pure]> {
  let arguments = (ins TupleValue:$operand, I32Attr:$index);
  let results = (outs AnyValue:$result);
  let assemblyFormat = "$operand `[` custom<BareInt32>($index) `]` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def CompositeOp : Stablehlo_Op<"composite", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins Variadic<AnyValue>:$inputs, StrAttr:$name, DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition, DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let results = (outs Variadic<AnyValue>);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let assemblyFormat = "$name $inputs (`(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def CustomCallOp : Stablehlo_Op<"custom_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<LibraryCallOpInterface>, LocalizedAs<"ByRule">]> {
  let arguments = (ins Variadic<AnyValue>:$inputs, StrAttr:$call_target_name,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect, OptionalAttr<AnyAttr>:$backend_config,
                       DefaultValuedOptionalAttr<CustomCallApiVersion, "CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
                       DefaultValuedOptionalAttr<FlatSymbolRefs, "{}">:$called_computations,
                       OptionalAttr<Layouts>:$operand_layouts, OptionalAttr<Layouts>:$result_layouts,
                       DefaultValuedOptionalAttr<OperandAliases, "{}">:$output_operand_aliases);
  let results = (outs Variadic<AnyValue>);
  let assemblyFormat = [{
    custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def AsyncStartOp : Stablehlo_Op<"async_start"> {
  let arguments = (ins Variadic<AnyTensorValue>:$operands_);
  let results = (outs FutureType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}
def AsyncDoneOp : Stablehlo_Op<"async_done"> {
  let arguments = (ins FutureType:$operand);
  let results = (outs Variadic<AnyTensorValue>);
  let hasVerifier = 1;
}
#endif
