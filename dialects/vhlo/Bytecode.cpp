// How versioned attributes stand in an artifact: a code, then their fields.
#include "dialects/stablehlo/EnumBytecode.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/vhlo/MeshAttributes.h"
#include "dialects/vhlo/Types.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tessera::vhlo {
namespace {

using stablehlo::readEnum;
using Reader = DialectBytecodeReader;
using Writer = DialectBytecodeWriter;

Attribute readDictionary(Reader &reader) {
  uint64_t count;
  if (failed(reader.readVarInt(count)))
    return {};
  SmallVector<NamedAttribute> entries;
  for (uint64_t i = 0; i < count; ++i) {
    Attribute name, value;
    if (failed(reader.readAttribute(name)) || failed(reader.readAttribute(value)))
      return {};
    auto string = dyn_cast<StringAttr>(plain(name));
    if (!string || string.empty())
      return reader.emitError("a dictionary has a name that is no text"), Attribute();
    entries.emplace_back(string, plain(value));
  }
  if (DictionaryAttr::findDuplicate(entries, /*isSorted=*/false))
    return reader.emitError("a dictionary has a name twice"), Attribute();
  return DictionaryAttr::get(reader.getContext(), entries);
}

Attribute readNumber(Reader &reader, bool isFloat) {
  Type type;
  if (failed(readPlain(reader, type)))
    return {};
  if (isFloat) {
    const llvm::fltSemantics *semantics = floatSemantics(type);
    if (!semantics)
      return reader.emitError("a float has a type that is none"), Attribute();
    FailureOr<APFloat> value = reader.readAPFloatWithKnownSemantics(*semantics);
    return failed(value) ? Attribute() : FloatAttr::get(type, *value);
  }
  unsigned width = integerWidth(type);
  if (!width)
    return reader.emitError("an integer has a type that is none"), Attribute();
  FailureOr<APInt> value = reader.readAPIntWithKnownWidth(width);
  return failed(value) ? Attribute() : IntegerAttr::get(type, *value);
}

Attribute readTensor(Reader &reader) {
  Type type;
  ArrayRef<char> bytes;
  if (failed(readPlain(reader, type)) || failed(reader.readBlob(bytes)))
    return {};
  if (Attribute tensor = tensorFromBytes(type, bytes))
    return tensor;
  return reader.emitError() << "a constant of " << bytes.size() << " bytes is no " << type,
         Attribute();
}

Attribute readAccuracy(Reader &reader) {
  FailureOr<APFloat> atol = reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
  FailureOr<APFloat> rtol = failure();
  int64_t ulps;
  Attribute mode;
  if (failed(atol) || failed(rtol = reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble())) ||
      failed(reader.readSignedVarInt(ulps)) || failed(reader.readAttribute(mode)))
    return {};
  auto plainMode = dyn_cast<stablehlo::ResultAccuracyModeAttr>(plain(mode));
  if (!plainMode)
    return reader.emitError("an accuracy has no mode"), Attribute();
  return stablehlo::ResultAccuracyAttr::get(reader.getContext(), *atol, *rtol, ulps, plainMode);
}

// An optional field has a number before it that says whether it is there; a mesh's devices stand as
// MLIR writes what is optional.
Attribute readFields(Reader &reader, AttrForm form) {
  SmallVector<Field, 2> fields;
  for (const FieldName &name : fieldNames(form)) {
    Field &field = fields.emplace_back();
    uint64_t isThere = 1;
    if (name.isNumber            ? failed(reader.readSignedVarInt(field.number))
        : !name.isOptional       ? failed(reader.readAttribute(field.attribute))
        : form == AttrForm::Mesh ? failed(reader.readOptionalAttribute(field.attribute))
                                 : failed(reader.readVarInt(isThere)) ||
                                       (isThere && failed(reader.readAttribute(field.attribute))))
      return {};
    field.attribute = plain(field.attribute);
  }
  return fromFields(
      form, fields, [&] { return reader.emitError("groups by mesh axes: "); }, reader.getContext());
}

Attribute readBody(Reader &reader, AttrForm form) {
  MLIRContext *context = reader.getContext();
  switch (form) {
  case AttrForm::None:
    break;
  case AttrForm::Array: {
    SmallVector<Attribute> elements;
    if (failed(reader.readAttributes(elements)))
      return {};
    for (Attribute &element : elements)
      element = plain(element);
    return ArrayAttr::get(context, elements);
  }
  case AttrForm::Boolean: {
    uint64_t value;
    if (failed(reader.readVarInt(value)))
      return {};
    return BoolAttr::get(context, value != 0);
  }
  case AttrForm::ComparisonDirection:
    return readEnum<stablehlo::ComparisonDirectionAttr>(
        reader, [](uint32_t n) { return stablehlo::symbolizeComparisonDirection(n); });
  case AttrForm::ComparisonType:
    return readEnum<stablehlo::ComparisonTypeAttr>(
        reader, [](uint32_t n) { return stablehlo::symbolizeComparisonType(n); });
  case AttrForm::ApiVersion: {
    uint64_t value;
    if (failed(reader.readVarInt(value)))
      return {};
    return Builder(context).getI32IntegerAttr(std::min<uint64_t>(value, 255));
  }
  case AttrForm::Dictionary:
    return readDictionary(reader);
  case AttrForm::FftType:
    return readEnum<stablehlo::FftTypeAttr>(
        reader, [](uint32_t n) { return stablehlo::symbolizeFftType(n); });
  case AttrForm::Float:
  case AttrForm::Integer:
    return readNumber(reader, form == AttrForm::Float);
  case AttrForm::OutputOperandAlias: {
    SmallVector<int64_t> output, operand;
    int64_t index;
    if (failed(reader.readSignedVarInts(output)) || failed(reader.readSignedVarInt(index)) ||
        failed(reader.readSignedVarInts(operand)))
      return {};
    return stablehlo::OutputOperandAliasAttr::get(context, output, index, operand);
  }
  case AttrForm::Precision:
    return readEnum<stablehlo::PrecisionAttr>(
        reader, [](uint32_t n) { return stablehlo::symbolizePrecision(n); });
  case AttrForm::RngAlgorithm:
    return readEnum<stablehlo::RngAlgorithmAttr>(
        reader, [](uint32_t n) { return stablehlo::symbolizeRngAlgorithm(n); });
  case AttrForm::RngDistribution:
    return readEnum<stablehlo::RngDistributionAttr>(
        reader, [](uint32_t n) { return stablehlo::symbolizeRngDistribution(n); });
  case AttrForm::String: {
    StringRef text;
    return failed(reader.readString(text)) ? Attribute() : StringAttr::get(context, text);
  }
  case AttrForm::Tensor:
    return readTensor(reader);
  case AttrForm::Transpose:
    return readEnum<stablehlo::TransposeAttr>(
        reader, [](uint32_t n) { return stablehlo::symbolizeTranspose(n); });
  case AttrForm::Type: {
    Type type;
    return failed(readPlain(reader, type)) ? Attribute() : TypeAttr::get(type);
  }
  case AttrForm::TypeExtensions: {
    SmallVector<int64_t> bounds;
    return failed(reader.readSignedVarInts(bounds))
               ? Attribute()
               : stablehlo::TypeExtensionsAttr::get(context, bounds);
  }
  case AttrForm::ResultAccuracyMode:
    return readEnum<stablehlo::ResultAccuracyModeAttr>(
        reader, [](uint32_t n) { return stablehlo::symbolizeResultAccuracyMode(n); });
  case AttrForm::ResultAccuracy:
    return readAccuracy(reader);
  case AttrForm::SubAxisInfo:
  case AttrForm::AxisRef:
  case AttrForm::ReplicaGroupMeshAxes:
  case AttrForm::MeshAxis:
  case AttrForm::Mesh:
    return readFields(reader, form);
  }
  reader.emitError() << "no attribute of StableHLO " << current.str() << " or before that Tessera "
                     << "knows has the code " << uint64_t(form);
  return {};
}

void writeFields(Writer &writer, AttrForm form, Attribute plain) {
  for (auto [name, field] : llvm::zip_equal(fieldNames(form), fieldsOf(plain))) {
    Attribute attribute = versioned(field.attribute);
    if (name.isNumber)
      writer.writeSignedVarInt(field.number);
    else if (!name.isOptional)
      writer.writeAttribute(attribute);
    else if (form == AttrForm::Mesh)
      writer.writeOptionalAttribute(attribute);
    else if (writer.writeVarInt(bool(attribute)); attribute)
      writer.writeAttribute(attribute);
  }
}

template <typename AttrT> void writeEnum(Writer &writer, Attribute plain) {
  writer.writeVarInt(uint64_t(cast<AttrT>(plain).getValue()));
}

void writeBody(Writer &writer, AttrForm form, Attribute plain) {
  switch (form) {
  case AttrForm::None:
    break;
  case AttrForm::Array:
    writer.writeList(cast<ArrayAttr>(plain).getValue(),
                     [&](Attribute each) { writer.writeAttribute(versioned(each)); });
    break;
  case AttrForm::Boolean:
    writer.writeVarInt(cast<BoolAttr>(plain).getValue());
    break;
  case AttrForm::ComparisonDirection:
    return writeEnum<stablehlo::ComparisonDirectionAttr>(writer, plain);
  case AttrForm::ComparisonType:
    return writeEnum<stablehlo::ComparisonTypeAttr>(writer, plain);
  case AttrForm::ApiVersion:
    writer.writeVarInt(cast<IntegerAttr>(plain).getInt());
    break;
  case AttrForm::Dictionary:
    writer.writeList(cast<DictionaryAttr>(plain).getValue(), [&](NamedAttribute each) {
      writer.writeAttribute(versioned(Attribute(each.getName())));
      writer.writeAttribute(versioned(each.getValue()));
    });
    break;
  case AttrForm::FftType:
    return writeEnum<stablehlo::FftTypeAttr>(writer, plain);
  case AttrForm::Float:
    writer.writeType(versioned(cast<FloatAttr>(plain).getType()));
    writer.writeAPFloatWithKnownSemantics(cast<FloatAttr>(plain).getValue());
    break;
  case AttrForm::Integer:
    writer.writeType(versioned(cast<IntegerAttr>(plain).getType()));
    writer.writeAPIntWithKnownWidth(cast<IntegerAttr>(plain).getValue());
    break;
  case AttrForm::OutputOperandAlias: {
    auto alias = cast<stablehlo::OutputOperandAliasAttr>(plain);
    writer.writeSignedVarInts(alias.getOutputTupleIndices());
    writer.writeSignedVarInt(alias.getOperandIndex());
    writer.writeSignedVarInts(alias.getOperandTupleIndices());
    break;
  }
  case AttrForm::Precision:
    return writeEnum<stablehlo::PrecisionAttr>(writer, plain);
  case AttrForm::RngAlgorithm:
    return writeEnum<stablehlo::RngAlgorithmAttr>(writer, plain);
  case AttrForm::RngDistribution:
    return writeEnum<stablehlo::RngDistributionAttr>(writer, plain);
  case AttrForm::String:
    writer.writeOwnedString(cast<StringAttr>(plain).getValue());
    break;
  case AttrForm::Tensor:
    writer.writeType(versioned(Type(cast<DenseElementsAttr>(plain).getType())));
    writer.writeOwnedBlob(cast<DenseElementsAttr>(plain).getRawData());
    break;
  case AttrForm::Transpose:
    return writeEnum<stablehlo::TransposeAttr>(writer, plain);
  case AttrForm::Type:
    writer.writeType(versioned(cast<TypeAttr>(plain).getValue()));
    break;
  case AttrForm::TypeExtensions:
    writer.writeSignedVarInts(cast<stablehlo::TypeExtensionsAttr>(plain).getBounds());
    break;
  case AttrForm::ResultAccuracyMode:
    return writeEnum<stablehlo::ResultAccuracyModeAttr>(writer, plain);
  case AttrForm::ResultAccuracy: {
    auto accuracy = cast<stablehlo::ResultAccuracyAttr>(plain);
    writer.writeAPFloatWithKnownSemantics(accuracy.getAtol());
    writer.writeAPFloatWithKnownSemantics(accuracy.getRtol());
    writer.writeSignedVarInt(accuracy.getUlps());
    writer.writeAttribute(versioned(Attribute(accuracy.getMode())));
    break;
  }
  case AttrForm::SubAxisInfo:
  case AttrForm::AxisRef:
  case AttrForm::ReplicaGroupMeshAxes:
  case AttrForm::MeshAxis:
  case AttrForm::Mesh:
    return writeFields(writer, form, plain);
  }
}

struct Bytecode : BytecodeDialectInterface {
  explicit Bytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Type readType(Reader &reader) const override {
    Type type = readPlainType(reader);
    if (!type)
      return {};
    if (hasVersionedForm(type))
      return VersionedType::get(reader.getContext(), type);
    return reader.emitError() << "not a type that artifacts hold: " << type, Type();
  }

  LogicalResult writeType(Type type, Writer &writer) const override {
    writePlainType(writer, plain(type));
    return success();
  }

  Attribute readAttribute(Reader &reader) const override {
    uint64_t form;
    if (failed(reader.readVarInt(form)))
      return {};
    Attribute value = readBody(reader, AttrForm(form));
    return value ? VersionedAttr::get(reader.getContext(), AttrForm(form), value) : Attribute();
  }

  LogicalResult writeAttribute(Attribute attr, Writer &writer) const override {
    auto wrapper = cast<VersionedAttr>(attr);
    writer.writeVarInt(uint64_t(wrapper.getForm()));
    writeBody(writer, wrapper.getForm(), wrapper.getPlain());
    return success();
  }
};

} // namespace

void VhloDialect::registerBytecode() { addInterfaces<Bytecode>(); }

} // namespace tessera::vhlo
