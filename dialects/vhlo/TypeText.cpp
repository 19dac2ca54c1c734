// The text of versioned types, as other readers of artifacts print them: !vhlo.tensor_v1<2x?x!vhlo.f32_v1>
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/vhlo/Types.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::vhlo {

ParseResult parsePlain(AsmParser &parser, Type &type) {
  if (parser.parseType(type))
    return failure();
  type = plain(type);
  return success();
}

namespace {

void printTypes(AsmPrinter &printer, TypeRange types) {
  llvm::interleaveComma(types, printer, [&](Type type) { printer << versioned(type); });
}

void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape) {
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size))
      printer << "?x";
    else
      printer << size << "x";
  }
}

void printPlainType(AsmPrinter &printer, Type plain) {
  TypeSwitch<Type>(plain)
      .Case(
          [&](ComplexType t) { printer << "complex_v1<" << versioned(t.getElementType()) << ">"; })
      .Case([&](FunctionType t) {
        printer << "func_v1<(";
        printTypes(printer, t.getInputs());
        printer << ") -> (";
        printTypes(printer, t.getResults());
        printer << ")>";
      })
      .Case([&](RankedTensorType t) {
        printer << "tensor_v1<";
        printShape(printer, t.getShape());
        printer << versioned(t.getElementType());
        if (t.getEncoding())
          printer << ", " << versioned(t.getEncoding());
        printer << ">";
      })
      .Case([&](UnrankedTensorType t) {
        printer << "unranked_tensor_v1<" << versioned(t.getElementType()) << ">";
      })
      .Case([&](MemRefType t) {
        printer << "buffer_v1<";
        printShape(printer, t.getShape());
        printer << versioned(t.getElementType()) << ">";
      })
      .Case([&](TupleType t) {
        printer << "tuple_v1<";
        printTypes(printer, t.getTypes());
        printer << ">";
      })
      .Case([&](stablehlo::FutureType t) {
        printer << "future_v1<";
        printTypes(printer, t.getTypes());
        printer << ">";
      })
      .Case([&](quant::UniformQuantizedType t) {
        printer << "quant_v1<" << versioned(t.getStorageType()) << ":"
                << versioned(t.getExpressedType()) << ", ";
        printer.printFloat(APFloat(t.getScale()));
        printer << ":" << t.getZeroPoint() << ", " << t.getStorageTypeMin() << ":"
                << t.getStorageTypeMax() << ", " << t.getFlags() << ">";
      })
      .Case([&](quant::UniformQuantizedPerAxisType t) {
        printer << "quant_per_axis_v1<" << versioned(t.getStorageType()) << ":"
                << versioned(t.getExpressedType()) << ", " << t.getQuantizedDimension() << ", [";
        llvm::interleaveComma(t.getScales(), printer,
                              [&](double scale) { printer.printFloat(APFloat(scale)); });
        printer << "], [";
        llvm::interleaveComma(t.getZeroPoints(), printer);
        printer << "], " << t.getStorageTypeMin() << ":" << t.getStorageTypeMax() << ", "
                << t.getFlags() << ">";
      })
      .Default([&](Type t) { printer << findSimpleType(t)->name; });
}

ParseResult parseTypes(AsmParser &parser, AsmParser::Delimiter delimiter,
                       SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(delimiter,
                                        [&] { return parsePlain(parser, types.emplace_back()); });
}

ParseResult parseQuantized(AsmParser &parser, bool perAxis, Type &type) {
  Type storage, expressed;
  int32_t axis = 0;
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  int64_t min, max;
  unsigned flags;
  auto scale = [&] { return parser.parseFloat(scales.emplace_back()); };
  auto zeroPoint = [&] { return parser.parseInteger(zeroPoints.emplace_back()); };
  using Delimiter = AsmParser::Delimiter;
  if (parser.parseLess() || parsePlain(parser, storage) || parser.parseColon() ||
      parsePlain(parser, expressed) || parser.parseComma())
    return failure();
  if (perAxis) {
    if (parser.parseInteger(axis) || parser.parseComma() ||
        parser.parseCommaSeparatedList(Delimiter::Square, scale) || parser.parseComma() ||
        parser.parseCommaSeparatedList(Delimiter::Square, zeroPoint))
      return failure();
  } else if (scale() || parser.parseColon() || zeroPoint()) {
    return failure();
  }
  if (parser.parseComma() || parser.parseInteger(min) || parser.parseColon() ||
      parser.parseInteger(max) || parser.parseComma() || parser.parseInteger(flags) ||
      parser.parseGreater())
    return failure();
  auto error = [&] { return parser.emitError(parser.getNameLoc()); };
  if (perAxis)
    type = quant::UniformQuantizedPerAxisType::getChecked(error, flags, storage, expressed, scales,
                                                          zeroPoints, axis, min, max);
  else
    type = quant::UniformQuantizedType::getChecked(error, flags, storage, expressed, scales[0],
                                                   zeroPoints[0], min, max);
  return success(bool(type));
}

ParseResult parseShaped(AsmParser &parser, StringRef name, Type &type) {
  SmallVector<int64_t> shape;
  Type element;
  Attribute encoding;
  if (parser.parseLess() || (name != "unranked_tensor_v1" && parser.parseDimensionList(shape)) ||
      parsePlain(parser, element))
    return failure();
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseAttribute(encoding))
      return failure();
    encoding = plain(encoding);
  }
  if (parser.parseGreater())
    return failure();
  auto error = [&] { return parser.emitError(parser.getNameLoc()); };
  if (name == "tensor_v1")
    type = RankedTensorType::getChecked(error, shape, element, encoding);
  else if (name == "buffer_v1")
    type = MemRefType::getChecked(error, shape, element);
  else
    type = UnrankedTensorType::getChecked(error, element);
  return success(bool(type));
}

ParseResult parsePlainType(AsmParser &parser, StringRef name, Type &type) {
  MLIRContext *context = parser.getContext();
  if (const SimpleType *simple = findSimpleType(name)) {
    type = simple->make(context);
    return success();
  }
  if (name == "tensor_v1" || name == "unranked_tensor_v1" || name == "buffer_v1")
    return parseShaped(parser, name, type);
  if (name == "quant_v1" || name == "quant_per_axis_v1")
    return parseQuantized(parser, name == "quant_per_axis_v1", type);
  SmallVector<Type> types, results;
  if (name == "complex_v1") {
    Type element;
    if (parser.parseLess() || parsePlain(parser, element) || parser.parseGreater())
      return failure();
    type = ComplexType::getChecked([&] { return parser.emitError(parser.getNameLoc()); }, element);
    return success(bool(type));
  }
  if (name == "func_v1") {
    if (parser.parseLess() || parseTypes(parser, AsmParser::Delimiter::Paren, types) ||
        parser.parseArrow() || parseTypes(parser, AsmParser::Delimiter::Paren, results) ||
        parser.parseGreater())
      return failure();
    type = FunctionType::get(context, types, results);
    return success();
  }
  if (name == "tuple_v1" || name == "future_v1") {
    if (parseTypes(parser, AsmParser::Delimiter::LessGreater, types))
      return failure();
    type = name == "tuple_v1" ? Type(TupleType::get(context, types))
                              : Type(stablehlo::FutureType::get(context, types));
    return success();
  }
  return parser.emitError(parser.getNameLoc()) << "vhlo has no type '" << name << "'";
}

} // namespace

void VersionedType::print(AsmPrinter &printer) const { printPlainType(printer, getPlain()); }

Type VhloDialect::parseType(DialectAsmParser &parser) const {
  StringRef name;
  Type type;
  if (parser.parseKeyword(&name) || parsePlainType(parser, name, type))
    return {};
  if (!hasVersionedForm(type)) {
    parser.emitError(parser.getNameLoc()) << "not a type that artifacts hold: " << type;
    return {};
  }
  return VersionedType::get(parser.getContext(), type);
}

void VhloDialect::printType(Type type, DialectAsmPrinter &printer) const {
  cast<VersionedType>(type).print(printer);
}

} // namespace tessera::vhlo
