// Which attributes have a versioned form, and since when.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/vhlo/Types.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::vhlo {

AttrForm formOf(Attribute plain) {
  return TypeSwitch<Attribute, AttrForm>(plain)
      .Case([](ArrayAttr) { return AttrForm::Array; })
      .Case([](DictionaryAttr) { return AttrForm::Dictionary; })
      .Case([](IntegerAttr a) {
        if (a.getType().isInteger(1))
          return AttrForm::Boolean;
        return integerWidth(a.getType()) ? AttrForm::Integer : AttrForm::None;
      })
      .Case([](FloatAttr a) {
        return floatSemantics(a.getType()) ? AttrForm::Float : AttrForm::None;
      })
      .Case([](StringAttr a) {
        return isa<NoneType>(a.getType()) ? AttrForm::String : AttrForm::None;
      })
      .Case([](FlatSymbolRefAttr) { return AttrForm::String; })
      .Case([](TypeAttr a) {
        return hasVersionedForm(a.getValue()) ? AttrForm::Type : AttrForm::None;
      })
      .Case<DenseI64ArrayAttr, DenseBoolArrayAttr>([](auto) { return AttrForm::Tensor; })
      .Case([](DenseIntOrFPElementsAttr a) {
        return hasVersionedForm(a.getType()) ? AttrForm::Tensor : AttrForm::None;
      })
      .Case([](stablehlo::ComparisonDirectionAttr) { return AttrForm::ComparisonDirection; })
      .Case([](stablehlo::ComparisonTypeAttr) { return AttrForm::ComparisonType; })
      .Case([](stablehlo::FftTypeAttr) { return AttrForm::FftType; })
      .Case([](stablehlo::OutputOperandAliasAttr) { return AttrForm::OutputOperandAlias; })
      .Case([](stablehlo::PrecisionAttr) { return AttrForm::Precision; })
      .Case([](stablehlo::RngAlgorithmAttr) { return AttrForm::RngAlgorithm; })
      .Case([](stablehlo::RngDistributionAttr) { return AttrForm::RngDistribution; })
      .Case([](stablehlo::TransposeAttr) { return AttrForm::Transpose; })
      .Case([](stablehlo::TypeExtensionsAttr) { return AttrForm::TypeExtensions; })
      .Case([](stablehlo::ResultAccuracyModeAttr) { return AttrForm::ResultAccuracyMode; })
      .Case([](stablehlo::ResultAccuracyAttr) { return AttrForm::ResultAccuracy; })
      .Case([](stablehlo::SubAxisInfoAttr) { return AttrForm::SubAxisInfo; })
      .Case([](stablehlo::AxisRefAttr) { return AttrForm::AxisRef; })
      .Case([](stablehlo::ReplicaGroupMeshAxesAttr) { return AttrForm::ReplicaGroupMeshAxes; })
      .Case([](stablehlo::MeshAxisAttr) { return AttrForm::MeshAxis; })
      .Case([](stablehlo::MeshAttr) { return AttrForm::Mesh; })
      .Default([](Attribute) { return AttrForm::None; });
}

Version introduced(Attribute plain) {
  return TypeSwitch<Attribute, Version>(plain)
      .Case([](ArrayAttr list) {
        Version version = oldest;
        for (Attribute each : list)
          version = std::max(version, introduced(each));
        return version;
      })
      .Case([](DictionaryAttr dictionary) {
        Version version = oldest;
        for (NamedAttribute each : dictionary)
          version = std::max(version, introduced(each.getValue()));
        return version;
      })
      .Case<IntegerAttr, FloatAttr>([](auto a) { return introduced(a.getType()); })
      .Case([](DenseIntOrFPElementsAttr a) { return introduced(a.getType()); })
      .Case([](TypeAttr a) { return introduced(a.getValue()); })
      .Case<stablehlo::ResultAccuracyModeAttr, stablehlo::ResultAccuracyAttr>(
          [](auto) { return Version{1, 9}; })
      .Case<stablehlo::SubAxisInfoAttr, stablehlo::AxisRefAttr, stablehlo::ReplicaGroupMeshAxesAttr,
            stablehlo::MeshAxisAttr, stablehlo::MeshAttr>([](auto) { return Version{1, 16}; })
      .Default([](Attribute a) { return formOf(a) == AttrForm::None ? mixesDialects : oldest; });
}

Attribute versioned(Attribute plain) {
  if (!plain || isa<VersionedAttr>(plain))
    return plain;
  AttrForm form = formOf(plain);
  if (form == AttrForm::None)
    return plain;
  // Strings and tensors are what symbols and arrays become.
  Builder b(plain.getContext());
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(plain))
    plain = symbol.getAttr();
  else if (auto array = dyn_cast<DenseI64ArrayAttr>(plain))
    plain = b.getI64TensorAttr(array.asArrayRef());
  else if (auto array = dyn_cast<DenseBoolArrayAttr>(plain))
    plain = b.getBoolVectorAttr(array.asArrayRef())
                .reshape(RankedTensorType::get(array.size(), b.getI1Type()));
  return VersionedAttr::get(plain.getContext(), form, plain);
}

Attribute plain(Attribute attr) {
  auto wrapper = dyn_cast_or_null<VersionedAttr>(attr);
  return wrapper ? wrapper.getPlain() : attr;
}

Attribute tensorFromBytes(Type plainType, ArrayRef<char> bytes) {
  auto type = dyn_cast_or_null<RankedTensorType>(plainType);
  if (!type || !type.hasStaticShape())
    return {};
  Type element = type.getElementType(), part = element;
  if (auto complex = dyn_cast<ComplexType>(element))
    part = complex.getElementType();
  if (!integerWidth(part) && !floatSemantics(part))
    return {};
  // More elements than bits in the artifact's largest blob can only be a splat; their number must
  // not overflow all the same.
  int64_t count = 1;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(count, size, count) || count > int64_t(1) << 56)
      return {};
  // Booleans are bits, a splat a byte of ones or zeros; some releases wrote a byte for each.
  std::vector<char> packed;
  if (element.isInteger(1) && bytes.size() == 1 && (count == 1 || count > 8)) {
    packed = {char(bytes[0] & 1 ? 0xff : 0)};
    bytes = packed;
  } else if (element.isInteger(1) && count > 1 && int64_t(bytes.size()) == count) {
    packed.resize(llvm::divideCeil(count, 8));
    for (int64_t i = 0; i < count; ++i)
      packed[i / 8] |= (bytes[i] & 1) << (i % 8);
    bytes = packed;
  }
  bool splat;
  if (!DenseElementsAttr::isValidRawBuffer(type, bytes, splat))
    return {};
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

} // namespace tessera::vhlo
