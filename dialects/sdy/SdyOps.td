// Ops of the `sdy` dialect.
#ifndef TESSERA_SDY_OPS_TD
#define TESSERA_SDY_OPS_TD

include "dialects/sdy/SdyAttrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Sdy_Op<string mnemonic, list<Trait> traits = []> : Op<Sdy_Dialect, mnemonic, traits>;

def Sdy_MeshOp : Sdy_Op<"mesh", [HasParent<"mlir::ModuleOp">, Symbol]> {
  let summary = "names a mesh";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
  let hasVerifier = 1;
}

def Sdy_ShardingConstraintOp : Sdy_Op<"sharding_constraint", [SameOperandsAndResultType]> {
  let summary = "says how a value, or the uses of this op's result, should be sharded";
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_ReshardOp : Sdy_Op<"reshard", [Pure, SameOperandsAndResultType]> {
  let summary = "the same value under another sharding";
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "values of one group are sharded alike";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_PropagationBarrierOp : Sdy_Op<"propagation_barrier", [Pure, SameOperandsAndResultType]> {
  let summary = "an identity that lets shardings through in the given direction only";
  let arguments = (ins AnyRankedTensor:$input, Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Sdy_DataFlowEdgeOp : Sdy_Op<"data_flow_edge", [SameOperandsAndResultType]> {
  let summary = "an identity that carries the sharding of a data-flow edge";
  let arguments = (ins AnyShaped:$input, OptionalAttr<Sdy_TensorSharding>:$sharding);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_FuncDataFlowEdgeOp : Sdy_Op<"func_data_flow_edge", [SameOperandsAndResultType]> {
  let summary = "an identity on a function's argument or a call's result, where shardings pass between caller and callee";
  let arguments = (ins AnyShaped:$operand);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Sdy_ConstantOp : Sdy_Op<"constant", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a constant that is never merged with its equals, so that each use may be sharded its own way";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let assemblyFormat = "attr-dict $value";
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "ends a region of this dialect";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
  let builders = [OpBuilder<(ins), [{ /* no values */ }]>];
}

def Sdy_ManualComputationOp : Sdy_Op<"manual_computation", [
    IsolatedFromAbove, RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "code that is local in some axes, with its own collectives, and global in the others";
  let description = [{
    Operand i enters the region as the part that a device holds under `in_shardings[i]` in the manual axes; results leave
    it alike. The other (free) axes go on being partitioned inside.
  }];
  let arguments = (ins Variadic<AnyType>:$tensors, Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings, Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` operands `)` `in_shardings` `` `=` `` custom<ShardingPerValue>($in_shardings)
    `out_shardings` `` `=` `` custom<ShardingPerValue>($out_shardings) `manual_axes` `` `=` `` $manual_axes
    custom<SingleBlockRegion>($body) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Sdy_NamedComputationOp : Sdy_Op<"named_computation", [
    IsolatedFromAbove, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "a group of ops with a name; shardings flow through it as if it were not there";
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands, OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `<` $name `>` `` `(` $operands `)` (`in_shardings` `` `=` `` custom<ShardingPerValue>($in_shardings)^)?
    (`out_shardings` `` `=` `` custom<ShardingPerValue>($out_shardings)^)?
    custom<SingleBlockRegion>($body) attr-dict `:` functional-type($operands, results)
  }];
  let hasVerifier = 1;
}

// Collectives on global values: the value stays, its sharding changes as the op says.
class Sdy_CollectiveOp<string mnemonic, string text, dag leading> : Sdy_Op<mnemonic, [SameOperandsAndResultType]> {
  let arguments = !con(leading, (ins AnyShaped:$tensor, Sdy_TensorSharding:$out_sharding));
  let results = (outs AnyShaped:$result);
  let assemblyFormat = text # " $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_AllGatherOp : Sdy_CollectiveOp<"all_gather", "$gathering_axes", (ins Sdy_ListOfAxisRefLists:$gathering_axes)> {
  let summary = "removes trailing axes from dimensions";
}
def Sdy_AllSliceOp : Sdy_CollectiveOp<"all_slice", "$slicing_axes", (ins Sdy_ListOfAxisRefLists:$slicing_axes)> {
  let summary = "appends axes to dimensions";
}
def Sdy_AllToAllOp : Sdy_CollectiveOp<"all_to_all", "$params", (ins Sdy_AllToAllParamList:$params)> {
  let summary = "moves trailing axes from one dimension to the end of another";
}
def Sdy_CollectivePermuteOp : Sdy_CollectiveOp<"collective_permute", "", (ins)> {
  let summary = "replaces axes by others of the same total size, dimension by dimension";
}
def Sdy_AllReduceOp : Sdy_CollectiveOp<"all_reduce", "($reduction_op^)? $reduction_axes",
    (ins OptionalAttr<Sdy_ReductionOp>:$reduction_op, Sdy_AxisRefList:$reduction_axes)> {
  let summary = "combines partial values along axes";
}
def Sdy_ReduceScatterOp : Sdy_CollectiveOp<"reduce_scatter", "($reduction_op^)? $reduce_scatter_axes",
    (ins OptionalAttr<Sdy_ReductionOp>:$reduction_op, Sdy_ListOfAxisRefLists:$reduce_scatter_axes)> {
  let summary = "combines partial values along axes and appends those axes to dimensions";
}
def Sdy_ReplicatedToUnreducedOp : Sdy_CollectiveOp<"replicated_to_unreduced", "$axes", (ins Sdy_AxisRefList:$axes)> {
  let summary = "a replicated value seen as a partial one (the value on one rank, the neutral element elsewhere)";
}
def Sdy_ShardedToUnreducedOp : Sdy_CollectiveOp<"sharded_to_unreduced", "$axes", (ins Sdy_ListOfAxisRefLists:$axes)> {
  let summary = "a sharded value seen as a partial one (the shard in its place, the neutral element elsewhere)";
}

#endif // TESSERA_SDY_OPS_TD
