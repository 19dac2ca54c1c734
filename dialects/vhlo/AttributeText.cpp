// The text of versioned attributes, as other readers of artifacts print them:
//   #vhlo.array_v1<[#vhlo<precision_v1 HIGH>]>
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/vhlo/MeshAttributes.h"
#include "dialects/vhlo/Types.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace tessera::vhlo {
namespace {

//===-------------------------------- Enumerators ------------------------------------===//

struct EnumForm {
  AttrForm form;
  StringRef name;
  std::string (*print)(Attribute plain);
  Attribute (*parse)(MLIRContext *context, StringRef word);
};

template <typename AttrT, auto stringify, auto symbolize>
EnumForm enumForm(AttrForm form, StringRef name) {
  return {form, name,
          [](Attribute plain) { return stringify(cast<AttrT>(plain).getValue()).str(); },
          [](MLIRContext *context, StringRef word) -> Attribute {
            auto value = symbolize(word);
            return value ? AttrT::get(context, *value) : AttrT();
          }};
}

std::string printApi(Attribute plain) {
  auto value = stablehlo::symbolizeCustomCallApiVersion(cast<IntegerAttr>(plain).getInt());
  return value ? stablehlo::stringifyCustomCallApiVersion(*value).str() : "";
}

Attribute parseApi(MLIRContext *context, StringRef word) {
  auto value = stablehlo::symbolizeCustomCallApiVersion(word);
  return value ? Builder(context).getI32IntegerAttr(uint32_t(*value)) : IntegerAttr();
}

ArrayRef<EnumForm> enumForms() {
  using namespace stablehlo;
#define ENUM(NAME, TEXT)                                                                           \
  enumForm<NAME##Attr, static_cast<StringRef (*)(NAME)>(stringify##NAME),                          \
           static_cast<std::optional<NAME> (*)(StringRef)>(symbolize##NAME)>(AttrForm::NAME, TEXT)
  static const EnumForm forms[] = {ENUM(ComparisonDirection, "comparison_direction_v1"),
                                   ENUM(ComparisonType, "comparison_type_v1"),
                                   ENUM(FftType, "fft_type_v1"),
                                   ENUM(Precision, "precision_v1"),
                                   ENUM(RngAlgorithm, "rng_algorithm_v1"),
                                   ENUM(RngDistribution, "rng_distribution_v1"),
                                   ENUM(Transpose, "transpose_v1"),
                                   ENUM(ResultAccuracyMode, "result_accuracy_mode_v1"),
                                   {AttrForm::ApiVersion, "api_version_v1", printApi, parseApi}};
#undef ENUM
  return forms;
}

//===--------------------------------- Attributes ------------------------------------===//

constexpr std::pair<AttrForm, StringLiteral> attrNames[] = {
    {AttrForm::Array, "array_v1"},
    {AttrForm::Boolean, "bool_v1"},
    {AttrForm::Dictionary, "dict_v1"},
    {AttrForm::Float, "float_v1"},
    {AttrForm::Integer, "integer_v1"},
    {AttrForm::OutputOperandAlias, "output_operand_alias_v1"},
    {AttrForm::String, "string_v1"},
    {AttrForm::Tensor, "tensor_v1"},
    {AttrForm::Type, "type_v1"},
    {AttrForm::TypeExtensions, "type_extensions_v1"},
    {AttrForm::ResultAccuracy, "result_accuracy_v1"},
    {AttrForm::SubAxisInfo, "sub_axis_info_v1"},
    {AttrForm::AxisRef, "axis_ref_v1"},
    {AttrForm::ReplicaGroupMeshAxes, "replica_group_mesh_axes_v1"},
    {AttrForm::MeshAxis, "mesh_axis_v1"},
    {AttrForm::Mesh, "mesh_v1"}};

void printDims(AsmPrinter &printer, ArrayRef<int64_t> dims) {
  printer << "[";
  llvm::interleaveComma(dims, printer);
  printer << "]";
}

ParseResult parseDims(AsmParser &parser, SmallVectorImpl<int64_t> &dims) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(dims.emplace_back()); });
}

void printFields(AsmPrinter &printer, AttrForm form, Attribute plain) {
  StringRef separator = "";
  for (auto [name, field] : llvm::zip_equal(fieldNames(form), fieldsOf(plain))) {
    if (!name.isNumber && !field.attribute)
      continue;
    printer << std::exchange(separator, ", ") << name.name << " = ";
    if (name.isNumber)
      printer << field.number;
    else
      printer << versioned(field.attribute);
  }
}

// Fields come in any order.
ParseResult parseFields(AsmParser &parser, AttrForm form, Attribute &result) {
  ArrayRef<FieldName> names = fieldNames(form);
  SmallVector<Field, 2> fields(names.size());
  SmallVector<bool, 2> given(names.size());
  SMLoc start = parser.getCurrentLocation();
  do {
    StringRef word;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return failure();
    const FieldName *name =
        llvm::find_if(names, [&](const FieldName &n) { return n.name == word; });
    if (name == names.end() || given[name - names.begin()])
      return parser.emitError(at) << "expected a field of its own, not '" << word << "'";
    Field &field = fields[name - names.begin()];
    given[name - names.begin()] = true;
    if (name->isNumber ? failed(parser.parseInteger(field.number))
                       : failed(parser.parseAttribute(field.attribute)))
      return failure();
    field.attribute = plain(field.attribute);
  } while (succeeded(parser.parseOptionalComma()));
  for (auto [name, isGiven] : llvm::zip_equal(names, given))
    if (!isGiven && !name.isOptional)
      return parser.emitError(start) << "expected the field '" << name.name << "'";
  result = fromFields(form, fields, [&] { return parser.emitError(start); }, parser.getContext());
  return success(bool(result));
}

void printBody(AsmPrinter &printer, AttrForm form, Attribute plain) {
  if (!fieldNames(form).empty())
    return printFields(printer, form, plain);
  switch (form) {
  case AttrForm::Array:
    printer << "[";
    llvm::interleaveComma(cast<ArrayAttr>(plain), printer,
                          [&](Attribute each) { printer << versioned(each); });
    printer << "]";
    break;
  case AttrForm::Dictionary:
    printer << "{";
    llvm::interleaveComma(cast<DictionaryAttr>(plain), printer, [&](NamedAttribute each) {
      printer << versioned(Attribute(each.getName())) << " = " << versioned(each.getValue());
    });
    printer << "}";
    break;
  case AttrForm::Float:
    printer.printFloat(cast<FloatAttr>(plain).getValue());
    printer << " : " << versioned(cast<FloatAttr>(plain).getType());
    break;
  case AttrForm::Type:
    printer << versioned(cast<TypeAttr>(plain).getValue());
    break;
  case AttrForm::OutputOperandAlias: {
    auto alias = cast<stablehlo::OutputOperandAliasAttr>(plain);
    printer << "outputTupleIndices = ";
    printDims(printer, alias.getOutputTupleIndices());
    printer << ", operandIndex = " << alias.getOperandIndex() << ", operandTupleIndices = ";
    printDims(printer, alias.getOperandTupleIndices());
    break;
  }
  case AttrForm::TypeExtensions:
    printer << "bounds = ";
    printDims(printer, cast<stablehlo::TypeExtensionsAttr>(plain).getBounds());
    break;
  case AttrForm::ResultAccuracy: {
    auto accuracy = cast<stablehlo::ResultAccuracyAttr>(plain);
    printer << "atol = ";
    printer.printFloat(accuracy.getAtol());
    printer << ", rtol = ";
    printer.printFloat(accuracy.getRtol());
    printer << ", ulps = " << accuracy.getUlps()
            << ", mode = " << versioned(Attribute(accuracy.getMode()));
    break;
  }
  default:
    printer << plain; // as it is: true, "text", 1 : i64, dense<..>
  }
}

ParseResult parseDictionary(AsmParser &parser, Attribute &result) {
  NamedAttrList entries;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        Attribute name, value;
        SMLoc at = parser.getCurrentLocation();
        if (parser.parseAttribute(name) || parser.parseEqual() || parser.parseAttribute(value))
          return failure();
        auto string = dyn_cast<StringAttr>(plain(name));
        if (!string || string.empty() || entries.get(string))
          return parser.emitError(at) << "expected a name of its own";
        entries.append(string, plain(value));
        return success();
      }))
    return failure();
  result = entries.getDictionary(parser.getContext());
  return success();
}

ParseResult parseBody(AsmParser &parser, AttrForm form, Attribute &result) {
  if (!fieldNames(form).empty())
    return parseFields(parser, form, result);
  MLIRContext *context = parser.getContext();
  switch (form) {
  case AttrForm::Array: {
    SmallVector<Attribute> elements;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parser.parseAttribute(elements.emplace_back());
        }))
      return failure();
    for (Attribute &element : elements)
      element = plain(element);
    result = ArrayAttr::get(context, elements);
    return success();
  }
  case AttrForm::Dictionary:
    return parseDictionary(parser, result);
  case AttrForm::Float: {
    Type type;
    double number;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseFloat(number) || parser.parseColon() || parsePlain(parser, type))
      return failure();
    if (!floatSemantics(type))
      return parser.emitError(at) << "expected the type of a float";
    result = FloatAttr::get(type, number);
    return success();
  }
  case AttrForm::Type: {
    Type type;
    if (parsePlain(parser, type))
      return failure();
    result = TypeAttr::get(type);
    return success();
  }
  case AttrForm::OutputOperandAlias: {
    SmallVector<int64_t> output, operand;
    int64_t index;
    if (parser.parseKeyword("outputTupleIndices") || parser.parseEqual() ||
        parseDims(parser, output) || parser.parseComma() || parser.parseKeyword("operandIndex") ||
        parser.parseEqual() || parser.parseInteger(index) || parser.parseComma() ||
        parser.parseKeyword("operandTupleIndices") || parser.parseEqual() ||
        parseDims(parser, operand))
      return failure();
    result = stablehlo::OutputOperandAliasAttr::get(context, output, index, operand);
    return success();
  }
  case AttrForm::TypeExtensions: {
    SmallVector<int64_t> bounds;
    if (parser.parseKeyword("bounds") || parser.parseEqual() || parseDims(parser, bounds))
      return failure();
    result = stablehlo::TypeExtensionsAttr::get(context, bounds);
    return success();
  }
  case AttrForm::ResultAccuracy: {
    double atol, rtol;
    int64_t ulps;
    Attribute mode;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword("atol") || parser.parseEqual() || parser.parseFloat(atol) ||
        parser.parseComma() || parser.parseKeyword("rtol") || parser.parseEqual() ||
        parser.parseFloat(rtol) || parser.parseComma() || parser.parseKeyword("ulps") ||
        parser.parseEqual() || parser.parseInteger(ulps) || parser.parseComma() ||
        parser.parseKeyword("mode") || parser.parseEqual() || parser.parseAttribute(mode))
      return failure();
    auto plainMode = dyn_cast<stablehlo::ResultAccuracyModeAttr>(plain(mode));
    if (!plainMode)
      return parser.emitError(at) << "expected a mode of accuracy";
    result =
        stablehlo::ResultAccuracyAttr::get(context, APFloat(atol), APFloat(rtol), ulps, plainMode);
    return success();
  }
  default: {
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseAttribute(result))
      return failure();
    if (formOf(result) != form)
      return parser.emitError(at) << "this attribute is written in another form";
    return success();
  }
  }
}

} // namespace

void VersionedAttr::print(AsmPrinter &printer) const {
  for (const EnumForm &each : enumForms())
    if (each.form == getForm()) {
      printer << each.name << " " << each.print(getPlain());
      return;
    }
  for (auto [form, name] : attrNames)
    if (form == getForm()) {
      printer << name << "<";
      printBody(printer, form, getPlain());
      printer << ">";
    }
}

Attribute VhloDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  StringRef name, word;
  if (parser.parseKeyword(&name))
    return {};
  for (const EnumForm &each : enumForms())
    if (each.name == name) {
      if (parser.parseKeyword(&word))
        return {};
      if (Attribute value = each.parse(parser.getContext(), word))
        return VersionedAttr::get(parser.getContext(), each.form, value);
      parser.emitError(parser.getNameLoc()) << name << " has no '" << word << "'";
      return {};
    }
  for (auto [form, formName] : attrNames)
    if (formName == name) {
      Attribute value;
      if (parser.parseLess() || parseBody(parser, form, value) || parser.parseGreater())
        return {};
      return VersionedAttr::get(parser.getContext(), form, value);
    }
  parser.emitError(parser.getNameLoc()) << "vhlo has no attribute '" << name << "'";
  return {};
}

void VhloDialect::printAttribute(Attribute attr, DialectAsmPrinter &printer) const {
  cast<VersionedAttr>(attr).print(printer);
}

} // namespace tessera::vhlo
