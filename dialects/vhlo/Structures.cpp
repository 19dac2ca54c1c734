#include "dialects/vhlo/Structures.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tessera::vhlo {

ArrayRef<AttrSpec> structureFields(Kind kind) {
  static const auto dot = parseAttrSpecs("lhs_batching_dimensions rhs_batching_dimensions "
                                         "lhs_contracting_dimensions rhs_contracting_dimensions");
  static const auto algorithm = parseAttrSpecs(
      "lhs_precision_type=none@2 rhs_precision_type=none@2 accumulation_type=none@2 "
      "lhs_component_count=none@2 rhs_component_count=none@2 num_primitive_operations=none@2 "
      "allow_imprecise_accumulation=none@2");
  static const auto gather =
      parseAttrSpecs("offset_dims collapsed_slice_dims operand_batching_dims=tensor@2 "
                     "start_indices_batching_dims=tensor@2 start_index_map index_vector_dim");
  static const auto scatter = parseAttrSpecs(
      "update_window_dims inserted_window_dims input_batching_dims=tensor@2 "
      "scatter_indices_batching_dims=tensor@2 scatter_dims_to_operand_dims index_vector_dim");
  static const auto conv = parseAttrSpecs(
      "input_batch_dimension input_feature_dimension input_spatial_dimensions "
      "kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions "
      "output_batch_dimension output_feature_dimension output_spatial_dimensions");
  static const auto channel = parseAttrSpecs("channel_id channel_type");
  static const auto channelId = parseAttrSpecs("channel_id=0");
  switch (kind) {
  case Kind::Dot:
    return dot;
  case Kind::Algorithm:
    return algorithm;
  case Kind::Gather:
    return gather;
  case Kind::Scatter:
    return scatter;
  case Kind::Conv:
    return conv;
  case Kind::Channel:
    return channel;
  case Kind::ChannelId:
    return channelId;
  default:
    return {};
  }
}

SmallVector<Attribute> takeApart(Kind kind, Attribute value) {
  Builder b(value.getContext());
  auto list = [&](ArrayRef<int64_t> dims) -> Attribute { return b.getI64TensorAttr(dims); };
  auto number = [&](int64_t n) -> Attribute { return b.getI64IntegerAttr(n); };
  if (auto a = dyn_cast<stablehlo::DotDimensionNumbersAttr>(value); a && kind == Kind::Dot)
    return {list(a.getLhsBatchingDimensions()), list(a.getRhsBatchingDimensions()),
            list(a.getLhsContractingDimensions()), list(a.getRhsContractingDimensions())};
  if (auto a = dyn_cast<stablehlo::DotAlgorithmAttr>(value); a && kind == Kind::Algorithm)
    return {TypeAttr::get(a.getLhsPrecisionType()),
            TypeAttr::get(a.getRhsPrecisionType()),
            TypeAttr::get(a.getAccumulationType()),
            number(a.getLhsComponentCount()),
            number(a.getRhsComponentCount()),
            number(a.getNumPrimitiveOperations()),
            b.getBoolAttr(a.getAllowImpreciseAccumulation())};
  if (auto a = dyn_cast<stablehlo::GatherDimensionNumbersAttr>(value); a && kind == Kind::Gather)
    return {list(a.getOffsetDims()),          list(a.getCollapsedSliceDims()),
            list(a.getOperandBatchingDims()), list(a.getStartIndicesBatchingDims()),
            list(a.getStartIndexMap()),       number(a.getIndexVectorDim())};
  if (auto a = dyn_cast<stablehlo::ScatterDimensionNumbersAttr>(value); a && kind == Kind::Scatter)
    return {list(a.getUpdateWindowDims()),         list(a.getInsertedWindowDims()),
            list(a.getInputBatchingDims()),        list(a.getScatterIndicesBatchingDims()),
            list(a.getScatterDimsToOperandDims()), number(a.getIndexVectorDim())};
  if (auto a = dyn_cast<stablehlo::ConvDimensionNumbersAttr>(value); a && kind == Kind::Conv)
    return {number(a.getInputBatchDimension()),          number(a.getInputFeatureDimension()),
            list(a.getInputSpatialDimensions()),         number(a.getKernelInputFeatureDimension()),
            number(a.getKernelOutputFeatureDimension()), list(a.getKernelSpatialDimensions()),
            number(a.getOutputBatchDimension()),         number(a.getOutputFeatureDimension()),
            list(a.getOutputSpatialDimensions())};
  if (auto a = dyn_cast<stablehlo::ChannelHandleAttr>(value)) {
    if (kind == Kind::Channel)
      return {number(a.getHandle()), number(a.getType())};
    if (kind == Kind::ChannelId)
      return {number(a.getHandle())};
  }
  return {};
}

std::optional<SmallVector<int64_t>> integersOf(Attribute value) {
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(value))
    return llvm::to_vector(array.asArrayRef());
  auto dense = dyn_cast_or_null<DenseIntElementsAttr>(value);
  if (!dense || !dense.getElementType().isInteger(64) || dense.getNumElements() > 1 << 20)
    return std::nullopt;
  return llvm::to_vector(dense.getValues<int64_t>());
}

Attribute putTogether(Kind kind, ArrayRef<Attribute> fields, bool &absent) {
  absent = false;
  if (kind == Kind::Algorithm &&
      llvm::all_of(fields, [](Attribute f) { return !f || isDefault(Default::None, f); })) {
    absent = true;
    return {};
  }
  // Taken one after another; `ok` remembers whether each was what it should be.
  bool ok = true;
  size_t next = 0;
  auto list = [&]() -> SmallVector<int64_t> {
    Attribute field = fields[next++];
    if (!field)
      return {}; // batching dimensions, unknown before 1.1
    std::optional<SmallVector<int64_t>> values = integersOf(field);
    ok &= values.has_value();
    return values.value_or(SmallVector<int64_t>());
  };
  auto number = [&]() -> int64_t {
    auto value = dyn_cast_or_null<IntegerAttr>(fields[next++]);
    ok &= value && value.getType().isInteger(64);
    return ok ? value.getInt() : 0;
  };
  auto type = [&]() -> Type {
    auto value = dyn_cast_or_null<TypeAttr>(fields[next++]);
    ok &= bool(value);
    return ok ? value.getValue() : Type();
  };
  MLIRContext *context = nullptr;
  for (Attribute field : fields)
    if (field)
      context = field.getContext();
  if (!context)
    return {};
  Attribute result;
  // Braces evaluate from left to right.
  switch (kind) {
  case Kind::Dot: {
    SmallVector<int64_t> l[4] = {list(), list(), list(), list()};
    result = stablehlo::DotDimensionNumbersAttr::get(context, l[0], l[1], l[2], l[3]);
    break;
  }
  case Kind::Algorithm: {
    Type t[3] = {type(), type(), type()};
    int64_t n[3] = {number(), number(), number()};
    auto imprecise = dyn_cast_or_null<BoolAttr>(fields[next]);
    if (!ok || !imprecise)
      return {};
    result = stablehlo::DotAlgorithmAttr::get(context, t[0], t[1], t[2], n[0], n[1], n[2],
                                              imprecise.getValue());
    break;
  }
  case Kind::Gather: {
    SmallVector<int64_t> l[5] = {list(), list(), list(), list(), list()};
    result =
        stablehlo::GatherDimensionNumbersAttr::get(context, l[0], l[1], l[2], l[3], l[4], number());
    break;
  }
  case Kind::Scatter: {
    SmallVector<int64_t> l[5] = {list(), list(), list(), list(), list()};
    result = stablehlo::ScatterDimensionNumbersAttr::get(context, l[0], l[1], l[2], l[3], l[4],
                                                         number());
    break;
  }
  case Kind::Conv: {
    int64_t batch[3], feature[3];
    SmallVector<int64_t> spatial[3];
    for (int i = 0; i < 3; ++i) {
      batch[i] = number();
      feature[i] = number();
      spatial[i] = list();
    }
    result = stablehlo::ConvDimensionNumbersAttr::get(context, batch[0], feature[0], spatial[0],
                                                      batch[1], feature[1], spatial[1], batch[2],
                                                      feature[2], spatial[2]);
    break;
  }
  case Kind::Channel: {
    int64_t n[2] = {number(), number()};
    result = stablehlo::ChannelHandleAttr::get(context, n[0], n[1]);
    break;
  }
  case Kind::ChannelId: {
    int64_t handle = number();
    absent = handle == 0;
    result = absent ? Attribute() : stablehlo::ChannelHandleAttr::get(context, handle, 0);
    break;
  }
  default:
    return {};
  }
  return ok ? result : Attribute();
}

} // namespace tessera::vhlo
