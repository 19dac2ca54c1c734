// Communication as the source language has it: groups are tables of device numbers.
#ifndef TESSERA_STABLEHLO_COLLECTIVE
#define TESSERA_STABLEHLO_COLLECTIVE
include "dialects/stablehlo/StablehloBase.td"

def PartitionIdOp : InferredOp<"partition_id", [Pure]> {
  let results = (outs IntTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict `:` type(results)";
}
def ReplicaIdOp : InferredOp<"replica_id", [Pure]> {
  let results = (outs IntTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict `:` type(results)";
}
def AllGatherOp : InferredOp<"all_gather"> {
  let arguments = (ins Variadic<AnyTensorValue>:$operands_, I64Attr:$all_gather_dim, ReplicaGroups:$replica_groups,
                       OptionalAttr<ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<AnyTensorValue>);
  let hasVerifier = 1;
}
def AllReduceOp : InferredOp<"all_reduce", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<AnyTensorValue>:$operands_, ReplicaGroups:$replica_groups,
                       OptionalAttr<ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<AnyTensorValue>);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}
def AllToAllOp : InferredOp<"all_to_all"> {
  let arguments = (ins Variadic<AnyTensorValue>:$operands_, I64Attr:$split_dimension, I64Attr:$concat_dimension, I64Attr:$split_count,
                       ReplicaGroups:$replica_groups, OptionalAttr<ChannelHandleAttr>:$channel_handle);
  let results = (outs Variadic<AnyTensorValue>);
  let hasVerifier = 1;
}
// With `has_dynamic_root` the last operand says for each of the others which rank of a group sends it (or receives the sum).
def CollectiveBroadcastOp : InferredOp<"collective_broadcast"> {
  let arguments = (ins Variadic<AnyTensorValue>:$operands_, ReplicaGroups:$replica_groups, OptionalAttr<ChannelHandleAttr>:$channel_handle,
                       UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<AnyTensorValue>);
  let hasVerifier = 1;
}
def CollectiveReduceOp : InferredOp<"collective_reduce", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<AnyTensorValue>:$operands_, ReplicaGroups:$replica_groups, OptionalAttr<ChannelHandleAttr>:$channel_handle,
                       UnitAttr:$use_global_device_ids, UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<AnyTensorValue>);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}
def CollectivePermuteOp : OneTypeOp<"collective_permute", [], 5> {
  let arguments = (ins AnyTensorValue:$operand, I64ElementsAttr:$source_target_pairs, OptionalAttr<ChannelHandleAttr>:$channel_handle);
  let results = (outs AnyTensorValue);
  let hasVerifier = 1;
}
def CrossReplicaSumOp : OneTypeOp<"cross-replica-sum"> {
  let arguments = (ins AnyTensorValue:$operand, ReplicaGroups:$replica_groups);
  let results = (outs AnyTensorValue);
}
def ReduceScatterOp : InferredOp<"reduce_scatter", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins AnyTensorValue:$operand, I64Attr:$scatter_dimension, ReplicaGroups:$replica_groups,
                       OptionalAttr<ChannelHandleAttr>:$channel_handle, UnitAttr:$use_global_device_ids);
  let results = (outs AnyTensorValue);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}
#endif
