// The comm dialect: collectives on local tensors, by mesh axes.
#ifndef TESSERA_COMM_OPS
#define TESSERA_COMM_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Comm_Dialect : Dialect {
  let name = "comm";
  let cppNamespace = "::tessera::comm";
  let summary = "Collectives on local tensors, by mesh axes";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();"; // beside the attributes' storage
}

//===-- Attributes ----------------------------------------------------------------------------------------------===//

def Comm_ReductionKind : I32EnumAttr<"ReductionKind", "How values of several ranks become one", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Product", 1, "product">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]> {
  let cppNamespace = "::tessera::comm";
  let genSpecializedAttr = 0;
}
def Comm_ReductionAttr : EnumAttr<Comm_Dialect, Comm_ReductionKind, "reduction"> { let assemblyFormat = "$value"; }

def Comm_CollectiveKind : I32EnumAttr<"CollectiveKind", "What a collective does", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"AllGather", 1, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
    I32EnumAttrCase<"Permute", 4, "permute">, I32EnumAttrCase<"Broadcast", 5, "broadcast">,
    I32EnumAttrCase<"Shift", 6, "shift">]> {
  let cppNamespace = "::tessera::comm";
  let genSpecializedAttr = 0;
}
def Comm_CollectiveAttr : EnumAttr<Comm_Dialect, Comm_CollectiveKind, "kind"> { let assemblyFormat = "$value"; }

def Comm_Space : I32EnumAttr<"Space", "A memory that a device reaches", [
    I32EnumAttrCase<"Device", 0, "device">, I32EnumAttrCase<"Host", 1, "host">]> {
  let cppNamespace = "::tessera::comm";
  let genSpecializedAttr = 0;
}
def Comm_SpaceAttr : EnumAttr<Comm_Dialect, Comm_Space, "space"> { let assemblyFormat = "$value"; }

def Comm_AxisAttr : AttrDef<Comm_Dialect, "Axis"> {
  let mnemonic = "axis";
  let summary = "A mesh axis with its size, or a part of one";
  let description = [{
    `"data"=4` is a whole axis of size 4; `"model":(2)4` is a part of size 4 with `preSize` 2 (the product of the more
    major parts).
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$preSize, "int64_t":$size, "bool":$whole);
  let hasCustomAssemblyFormat = 1;
}

def Comm_AxesAttr : AttrDef<Comm_Dialect, "Axes"> {
  let mnemonic = "axes";
  let summary = "The axes of a mesh, major to minor, that a collective's groups span";
  let description = [{
    `#comm.axes<@mesh, ["data"=4, "model":(1)2]>`: devices that differ only in their coordinates along these axes form a
    group; the rank in it is the index along them, major to minor. Sizes are repeated from the mesh so that shapes and
    bytes can be checked without looking it up.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, ArrayRefParameter<"::tessera::comm::AxisAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of ranks in a group.
    int64_t getGroupSize() const;
    static AxesAttr get(::mlir::MLIRContext *context, const sharding::Mesh &mesh, ::llvm::ArrayRef<sharding::AxisRef> axes);
    /// The same axes as numbers on `mesh`, which must be the mesh that the attribute names.
    sharding::AxisRefs toAxisRefs(const sharding::Mesh &mesh) const;
  }];
}

def Comm_HandleType : TypeDef<Comm_Dialect, "Handle"> {
  let mnemonic = "handle";
  let summary = "A collective under way";
}

//===-- Ops -----------------------------------------------------------------------------------------------------===//

class Comm_Op<string mnemonic, list<Trait> traits = []> : Op<Comm_Dialect, mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

def Comm_Dim : ConfinedAttr<I64Attr, [IntNonNegative]>;

class Comm_Collective<string mnemonic, dag attributes> : Comm_Op<mnemonic> {
  let arguments = !con((ins Variadic<AnyStaticShapeTensor>:$inputs, Comm_AxesAttr:$axes), attributes);
  let results = (outs Variadic<AnyStaticShapeTensor>:$outputs);
}

def Comm_AllReduceOp : Comm_Collective<"all_reduce", (ins Comm_ReductionAttr:$reduction)> {
  let summary = "Reduces elementwise over the group, in rank order";
  let assemblyFormat = "$reduction `(` $inputs `)` `over` $axes attr-dict `:` functional-type($inputs, $outputs)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "AxesAttr":$axes, "ReductionKind":$reduction)>];
}

def Comm_AllGatherOp : Comm_Collective<"all_gather", (ins Comm_Dim:$dim)> {
  let summary = "Puts the group's parts together along `dim`, in rank order: MPI_Allgather";
  let assemblyFormat = "`(` $inputs `)` `dim` $dim `over` $axes attr-dict `:` functional-type($inputs, $outputs)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "AxesAttr":$axes, "int64_t":$dim)>];
}

def Comm_ReduceScatterOp : Comm_Collective<"reduce_scatter", (ins Comm_Dim:$dim, Comm_ReductionAttr:$reduction)> {
  let summary = "Rank r has part r, along `dim`, of the group's reduction: MPI_Reduce_scatter_block";
  let assemblyFormat = "$reduction `(` $inputs `)` `dim` $dim `over` $axes attr-dict `:` functional-type($inputs, $outputs)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "AxesAttr":$axes, "int64_t":$dim, "ReductionKind":$reduction)>];
}

def Comm_AllToAllOp : Comm_Collective<"all_to_all", (ins Comm_Dim:$dim, Comm_Dim:$concat_dim)> {
  let summary = "Splits along `dim`, sends part r to rank r, puts what arrives together along `concat_dim`: MPI_Alltoall";
  let assemblyFormat = "`(` $inputs `)` `split` $dim `concat` $concat_dim `over` $axes attr-dict `:` functional-type($inputs, $outputs)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "AxesAttr":$axes, "int64_t":$dim, "int64_t":$concatDim)>];
}

def Comm_PermuteOp : Comm_Collective<"permute", (ins DenseI64ArrayAttr:$pairs)> {
  let summary = "Sends whole values along (source rank, target rank) pairs; who receives nothing gets zeros";
  let assemblyFormat = "`(` $inputs `)` `pairs` $pairs `over` $axes attr-dict `:` functional-type($inputs, $outputs)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "AxesAttr":$axes, "::llvm::ArrayRef<int64_t>":$pairs)>];
}

def Comm_ShiftOp : Comm_Collective<"shift", (ins I64Attr:$offset, UnitAttr:$wrap)> {
  let summary = "Rank r's value goes to rank r + offset (modulo the group's size with `wrap`, else zeros come in at the end)";
  let assemblyFormat = "`(` $inputs `)` `by` $offset (`wrap` $wrap^)? `over` $axes attr-dict `:` functional-type($inputs, $outputs)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "AxesAttr":$axes, "int64_t":$offset, "bool":$wrap)>];
}

def Comm_BroadcastOp : Comm_Collective<"broadcast", (ins)> {
  let summary = "Everyone gets rank 0's value: MPI_Bcast";
  let assemblyFormat = "`(` $inputs `)` `over` $axes attr-dict `:` functional-type($inputs, $outputs)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "AxesAttr":$axes)>];
}

def Comm_SliceOp : Comm_Op<"slice"> {
  let summary = "My part, along `dim`, of a value that the whole group has; nothing is sent";
  let arguments = (ins AnyStaticShapeTensor:$input, Comm_AxesAttr:$axes, Comm_Dim:$dim);
  let results = (outs AnyStaticShapeTensor:$output);
  let assemblyFormat = "$input `dim` $dim `over` $axes attr-dict `:` functional-type($input, $output)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "AxesAttr":$axes, "int64_t":$dim)>];
}

def Comm_AxisIndexOp : Comm_Op<"axis_index"> {
  let summary = "My rank along the axes, major to minor; with all axes of the mesh, my position in it";
  let arguments = (ins Comm_AxesAttr:$axes);
  let results = (outs 0DTensorOf<[I32]>:$output);
  let assemblyFormat = "`over` $axes attr-dict `:` type($output)";
  let builders = [OpBuilder<(ins "AxesAttr":$axes)>];
}

// Not Pure: two transfers of one value are two copies, made when the program asks for each.
class Comm_AnyTransfer<string mnemonic, dag handle> : Op<Comm_Dialect, mnemonic, [AttrSizedOperandSegments]> {
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyStaticShapeTensor>:$into, Optional<0DTensorOf<[I32]>>:$index,
                   Comm_SpaceAttr:$space);
  let results = !con((outs Res<AnyRankedTensor, "", [MemAlloc]>:$output), handle);
  let assemblyFormat = [{
    `to` $space `(` $input `)` (`into` $into^)? (`at` $index^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Comm_TransferOp : Comm_AnyTransfer<"transfer", (outs)> {
  let summary = "A copy of a value in the device's memory or the host's";
  let description = [{
    Where the operand lies follows from what made it. Of an array that lies in the host's memory, `at` takes the rows from
    a place on, and `into` gives the array with rows from there on replaced; as in stablehlo.dynamic_slice, rows past
    the end move the place back. A result with more rows than the operand repeats it.
    ```mlir
    %h = comm.transfer to host (%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %d = comm.transfer to device (%h) at %i : (tensor<8x4xf32>, tensor<i32>) -> tensor<1x4xf32>
    %n = comm.transfer to host (%d) into %h at %i : (tensor<1x4xf32>, tensor<8x4xf32>, tensor<i32>) -> tensor<8x4xf32>
    ```
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "Space":$space)>];
}

def Comm_StartTransferOp : Comm_AnyTransfer<"start_transfer", (outs Comm_HandleType:$handle)> {
  let summary = "Starts a transfer: the result may be read only after the wait on its handle";
}

def Comm_StartOp : Comm_Op<"start"> {
  let summary = "Starts a collective: the results may be read only after the wait on its handle";
  let description = [{
    `kind` names the collective and the other attributes are its own, under the same names. `outputs` may be used by
    `comm.wait` only.
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$inputs, Comm_CollectiveAttr:$kind, Comm_AxesAttr:$axes,
                   OptionalAttr<Comm_ReductionAttr>:$reduction, OptionalAttr<Comm_Dim>:$dim,
                   OptionalAttr<Comm_Dim>:$concat_dim, OptionalAttr<DenseI64ArrayAttr>:$pairs,
                   OptionalAttr<I64Attr>:$offset, UnitAttr:$wrap);
  let results = (outs Variadic<AnyStaticShapeTensor>:$outputs, Comm_HandleType:$handle);
  let assemblyFormat = "$kind `(` $inputs `)` `over` $axes attr-dict `:` functional-type($inputs, results)";
}

def Comm_WaitOp : Comm_Op<"wait", [AllTypesMatch<["inputs", "outputs"]>]> {
  let summary = "Waits for a started collective: its results, and the right to overwrite its operands";
  let arguments = (ins Comm_HandleType:$handle, Variadic<AnyStaticShapeTensor>:$inputs);
  let results = (outs Variadic<AnyStaticShapeTensor>:$outputs);
  let assemblyFormat = "$handle `(` $inputs `)` attr-dict `:` type($outputs)";
}

#endif
