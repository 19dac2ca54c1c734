// Attributes of the `sdy` dialect. Text forms are in AttrText.cpp, what must hold is in AttrConstraints.cpp.
#ifndef TESSERA_SDY_ATTRS_TD
#define TESSERA_SDY_ATTRS_TD

include "dialects/sdy/SdyDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Sdy_Attr<string cppName, string mnemonic_> : AttrDef<Sdy_Dialect, cppName> {
  let mnemonic = mnemonic_;
  let hasCustomAssemblyFormat = 1;
}

def Sdy_PropagationDirection : I32EnumAttr<"PropagationDirection", "directions in which shardings flow", [
  I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>, I32EnumAttrCase<"BACKWARD", 2>,
  I32EnumAttrCase<"BOTH", 3>]> {
  let cppNamespace = "::tessera::sdy";
}

def Sdy_ReductionOp : I32EnumAttr<"ReductionOp", "how partial values combine", [
  I32EnumAttrCase<"SUM", 0, "sum">, I32EnumAttrCase<"MAX", 1, "max">, I32EnumAttrCase<"MIN", 2, "min">]> {
  let cppNamespace = "::tessera::sdy";
}

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "a named axis of a mesh: \"x\"=4";
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$size);
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "axes and, optionally, the order of devices: <[\"x\"=2, \"y\"=4], device_ids=[..]>";
  let description = [{
    No axes: an empty mesh, or with one device id a maximal mesh (everything on that device). Without device ids, device
    d sits at the row-major coordinates of d.
  }];
  let parameters = (ins ArrayRefParameter<"MeshAxisAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$device_ids);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isMaximal() const { return getAxes().empty() && getDeviceIds().size() == 1; }
    int64_t getNumDevices() const;
    // Size of an axis, 0 when there is none of that name.
    int64_t getAxisSize(llvm::StringRef axisName) const;
    // Place of an axis in the mesh, -1 when there is none of that name.
    int64_t getAxisIndex(llvm::StringRef axisName) const;
  }];
}

def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "a part of an axis: (product of the parts more major)size";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let genVerifyDecl = 1;
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "an axis or a part of one: \"x\" or \"x\":(1)2";
  let parameters = (ins StringRefParameter<"name">:$name,
                        OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let extraClassDeclaration = [{
    static AxisRefAttr get(mlir::MLIRContext *context, llvm::StringRef name) {
      return get(context, name, SubAxisInfoAttr());
    }
    int64_t getSize(MeshAttr mesh) const;
    bool overlaps(AxisRefAttr other) const;
  }];
}

def Sdy_AxisRefList : Sdy_Attr<"AxisRefList", "axis_ref_list"> {
  let summary = "axes: {\"x\", \"y\":(1)2}";
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$value);
}

def Sdy_ListOfAxisRefLists : Sdy_Attr<"ListOfAxisRefLists", "list_of_axis_ref_lists"> {
  let summary = "axes for each dimension: [{\"x\"}, {}]";
  let parameters = (ins ArrayRefParameter<"AxisRefListAttr">:$value);
}

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "axes of a dimension, major to minor; `?`: open to more; p1: its priority";
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "bool":$is_closed,
                        OptionalParameter<"std::optional<int64_t>">:$priority);
  let extraClassDeclaration = [{
    static DimensionShardingAttr get(mlir::MLIRContext *context, llvm::ArrayRef<AxisRefAttr> axes, bool isClosed) {
      return get(context, axes, isClosed, std::nullopt);
    }
  }];
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "how a tensor lies on a mesh: <@mesh, [{\"x\"}, {?}], replicated={..}, unreduced=max{..}>";
  let parameters = (ins "mlir::Attribute":$mesh_or_ref, ArrayRefParameter<"DimensionShardingAttr">:$dim_shardings,
                        OptionalArrayRefParameter<"AxisRefAttr">:$replicated_axes,
                        OptionalArrayRefParameter<"AxisRefAttr">:$unreduced_axes,
                        EnumParameter<Sdy_ReductionOp>:$reduction_op);
  let skipDefaultBuilders = 1;
  // Without unreduced axes there is nothing to combine: a sum, so that equals are one attribute.
  let builders = [AttrBuilder<(ins "mlir::Attribute":$mesh_or_ref, "llvm::ArrayRef<DimensionShardingAttr>":$dim_shardings,
                                   CArg<"llvm::ArrayRef<AxisRefAttr>", "{}">:$replicated_axes,
                                   CArg<"llvm::ArrayRef<AxisRefAttr>", "{}">:$unreduced_axes,
                                   CArg<"ReductionOp", "ReductionOp::SUM">:$reduction_op), [{
    return $_get($_ctxt, mesh_or_ref, dim_shardings, replicated_axes, unreduced_axes,
                 unreduced_axes.empty() ? ReductionOp::SUM : reduction_op);
  }]>];
  let extraClassDeclaration = [{
    static TensorShardingAttr get(mlir::MLIRContext *context, llvm::StringRef mesh,
                                  llvm::ArrayRef<DimensionShardingAttr> dims,
                                  llvm::ArrayRef<AxisRefAttr> replicated = {},
                                  llvm::ArrayRef<AxisRefAttr> unreduced = {},
                                  ReductionOp reduction = ReductionOp::SUM);
    TensorShardingAttr withReduction(ReductionOp op) const {
      return get(getContext(), getMeshOrRef(), getDimShardings(), getReplicatedAxes(), getUnreducedAxes(), op);
    }
    // Other axes on the same mesh, partial values combined alike.
    TensorShardingAttr withAxes(llvm::ArrayRef<DimensionShardingAttr> dims, llvm::ArrayRef<AxisRefAttr> replicated,
                                llvm::ArrayRef<AxisRefAttr> unreduced) const {
      return get(getContext(), getMeshOrRef(), dims, replicated, unreduced, getReductionOp());
    }
    static TensorShardingAttr getReplicated(mlir::MLIRContext *context, llvm::StringRef mesh, int64_t rank,
                                            bool isClosed = true);
    int64_t getRank() const { return getDimShardings().size(); }
    // The name of the mesh, empty when the mesh is written inline.
    llvm::StringRef getMeshName() const;
    // The mesh, found from `from` upwards; null when there is none of that name.
    MeshAttr getMesh(mlir::Operation *from) const;
  }];
}

def Sdy_TensorShardingPerValue : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "a sharding for each of several values: <[<@mesh, [..]>, ..]>";
  let parameters = (ins ArrayRefParameter<"TensorShardingAttr">:$shardings);
}

def Sdy_ManualAxes : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "the axes a manual computation is local in: {\"x\"}";
  let parameters = (ins ArrayRefParameter<"mlir::StringAttr">:$value);
}

def Sdy_AllToAllParam : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "axes that move between dimensions: {\"x\"}: 0->1";
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "int64_t":$src_dim, "int64_t":$tgt_dim);
}

def Sdy_AllToAllParamList : Sdy_Attr<"AllToAllParamList", "all_to_all_param_list"> {
  let summary = "[{\"x\"}: 0->1, {\"y\"}: 2->3]";
  let parameters = (ins ArrayRefParameter<"AllToAllParamAttr">:$value);
}

def Sdy_DimMapping : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "the factors of a dimension, major to minor";
  let parameters = (ins ArrayRefParameter<"int64_t">:$factor_indices);
}

def Sdy_TensorMapping : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "the factors of each dimension of a tensor: [ij, k]";
  let parameters = (ins ArrayRefParameter<"DimMappingAttr">:$dim_mappings);
}

def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "how an op partitions: <([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>";
  let parameters = (ins ArrayRefParameter<"int64_t">:$factor_sizes,
                        OptionalArrayRefParameter<"TensorMappingAttr">:$operand_mappings,
                        OptionalArrayRefParameter<"TensorMappingAttr">:$result_mappings,
                        OptionalArrayRefParameter<"int64_t">:$reduction_factors,
                        OptionalArrayRefParameter<"int64_t">:$need_replication_factors,
                        OptionalArrayRefParameter<"int64_t">:$permutation_factors,
                        OptionalArrayRefParameter<"int64_t">:$blocked_propagation_factors,
                        "bool":$is_custom_rule);
}

#endif // TESSERA_SDY_ATTRS_TD
