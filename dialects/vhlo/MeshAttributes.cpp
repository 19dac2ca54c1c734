#include "dialects/vhlo/MeshAttributes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::vhlo {

using stablehlo::AxisRefAttr;
using stablehlo::MeshAttr;
using stablehlo::MeshAxisAttr;
using stablehlo::ReplicaGroupMeshAxesAttr;
using stablehlo::SubAxisInfoAttr;

ArrayRef<FieldName> fieldNames(AttrForm form) {
  static constexpr FieldName part[] = {{"pre_size", true}, {"size", true}},
                             reference[] = {{"name"}, {"sub_axis_info", false, true}},
                             groups[] = {{"mesh"}, {"axes"}}, axis[] = {{"name"}, {"size", true}},
                             mesh[] = {{"axes"}, {"device_ids", false, true}};
  switch (form) {
  case AttrForm::SubAxisInfo:
    return part;
  case AttrForm::AxisRef:
    return reference;
  case AttrForm::ReplicaGroupMeshAxes:
    return groups;
  case AttrForm::MeshAxis:
    return axis;
  case AttrForm::Mesh:
    return mesh;
  default:
    return {};
  }
}

SmallVector<Field, 2> fieldsOf(Attribute plain) {
  using Fields = SmallVector<Field, 2>;
  MLIRContext *context = plain.getContext();
  return TypeSwitch<Attribute, Fields>(plain)
      .Case([](SubAxisInfoAttr a) { return Fields{{{}, a.getPreSize()}, {{}, a.getSize()}}; })
      .Case([&](AxisRefAttr a) {
        return Fields{{StringAttr::get(context, a.getName())}, {a.getSubAxisInfo()}};
      })
      .Case([](ReplicaGroupMeshAxesAttr a) { return Fields{{a.getMesh()}, {a.getAxes()}}; })
      .Case([&](MeshAxisAttr a) {
        return Fields{{StringAttr::get(context, a.getName())}, {{}, a.getSize()}};
      })
      .Case([&](MeshAttr a) {
        SmallVector<Attribute> axes(a.getAxes().begin(), a.getAxes().end());
        return Fields{{ArrayAttr::get(context, axes)}, {a.getDeviceIds()}};
      });
}

Attribute fromFields(AttrForm form, ArrayRef<Field> fields,
                     function_ref<InFlightDiagnostic()> error, MLIRContext *context) {
  auto expected = [&](StringRef what) -> Attribute {
    error() << "expected " << what;
    return {};
  };
  Attribute first = fields[0].attribute, second = fields[1].attribute;
  switch (form) {
  case AttrForm::SubAxisInfo:
    return SubAxisInfoAttr::get(context, fields[0].number, fields[1].number);
  case AttrForm::AxisRef: {
    auto name = dyn_cast_or_null<StringAttr>(first);
    auto part = dyn_cast_or_null<SubAxisInfoAttr>(second);
    if (!name || (second && !part))
      return expected("the name of an axis, and which part of it");
    return AxisRefAttr::get(context, name.getValue(), part);
  }
  case AttrForm::MeshAxis: {
    auto name = dyn_cast_or_null<StringAttr>(first);
    if (!name)
      return expected("the name of an axis");
    return MeshAxisAttr::get(context, name.getValue(), fields[1].number);
  }
  case AttrForm::Mesh: {
    auto list = dyn_cast_or_null<ArrayAttr>(first);
    auto devices = dyn_cast_or_null<DenseIntElementsAttr>(second);
    if (!list || !llvm::all_of(list, llvm::IsaPred<MeshAxisAttr>) || (second && !devices))
      return expected("axes with names and sizes, and a list of devices");
    SmallVector<MeshAxisAttr> axes(list.getAsRange<MeshAxisAttr>());
    return MeshAttr::getChecked(error, context, ArrayRef(axes), devices);
  }
  case AttrForm::ReplicaGroupMeshAxes: {
    auto axes = dyn_cast_or_null<ArrayAttr>(second);
    if (auto name = dyn_cast_or_null<StringAttr>(first)) // artifacts have no symbols
      first = FlatSymbolRefAttr::get(name);
    if (!axes)
      return expected("a mesh and axes of it");
    return ReplicaGroupMeshAxesAttr::getChecked(error, context, first, axes);
  }
  default:
    return {};
  }
}

} // namespace tessera::vhlo
