#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;

namespace tessera::stablehlo {

//===--------------------------------- Types ----------------------------------===//

ParseResult parseTypesOnceOrAll(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc at = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    for (Type *t : types)
      *t = type;
    return success();
  }
  if (function.getNumInputs() != types.size() - 1 || function.getNumResults() != 1)
    return parser.emitError(at) << "expected " << types.size() - 1
                                << " operand types and one result type";
  for (auto [t, input] : llvm::zip(types.drop_back(), function.getInputs()))
    *t = input;
  *types.back() = function.getResult(0);
  return success();
}

void printTypesOnceOrAll(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    return printer.printType(types.front());
  printer.printFunctionalType(types.drop_back(), types.take_back());
}

ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse,
                             Type &result) {
  SMLoc at = parser.getCurrentLocation();
  Type first;
  if (parser.parseType(first))
    return failure();
  if (auto function = dyn_cast<FunctionType>(first)) {
    if (function.getNumInputs() != 3 || function.getNumResults() != 1)
      return parser.emitError(at, "expected three operand types and one result type");
    pred = function.getInput(0), onTrue = function.getInput(1), onFalse = function.getInput(2);
    result = function.getResult(0);
    return success();
  }
  pred = first;
  if (parser.parseComma() || parser.parseType(result))
    return failure();
  onTrue = onFalse = result;
  return success();
}

void printSelectTypes(OpAsmPrinter &printer, Operation *, Type pred, Type onTrue, Type onFalse,
                      Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(ArrayRef<Type>{pred, onTrue, onFalse}, ArrayRef<Type>{result});
}

static Type partOf(Type complexTensor) {
  auto tensor = dyn_cast<RankedTensorType>(complexTensor);
  auto complex = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : nullptr;
  return complex ? Type(tensor.clone(complex.getElementType())) : Type();
}

ParseResult parseComplexTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  SMLoc at = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type)) {
    if (function.getNumInputs() != 2 || function.getNumResults() != 1)
      return parser.emitError(at, "expected two operand types and one result type");
    lhs = function.getInput(0), rhs = function.getInput(1), result = function.getResult(0);
    return success();
  }
  result = type;
  lhs = rhs = partOf(type);
  return lhs ? ParseResult(success()) : parser.emitError(at, "expected a tensor of complex values");
}

void printComplexTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type result) {
  if (lhs == partOf(result) && rhs == lhs)
    printer << result;
  else
    printer.printFunctionalType(ArrayRef<Type>{lhs, rhs}, ArrayRef<Type>{result});
}

ParseResult parsePairwiseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                               SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}

void printPairwiseTypes(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange) {
  printer << operands;
}

ParseResult parseTupleTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result) {
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(at, "expected a tuple type");
  llvm::append_range(operands, tuple.getTypes());
  return success();
}

void printTupleTypes(OpAsmPrinter &printer, Operation *, TypeRange, Type result) {
  printer << result;
}

//===-------------------------- Numbers and operands --------------------------===//

ParseResult parseDimArray(OpAsmParser &parser, DenseI64ArrayAttr &dims) {
  dims = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
  return success(bool(dims));
}

void printDimArray(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr dims) {
  dims.print(printer);
}

ParseResult parseBareInt(OpAsmParser &parser, IntegerAttr &value) {
  int64_t number;
  if (parser.parseInteger(number))
    return failure();
  value = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}

void printBareInt(OpAsmPrinter &printer, Operation *, IntegerAttr value) {
  printer << value.getValue();
}

ParseResult parseBareInt32(OpAsmParser &parser, IntegerAttr &value) {
  int32_t number;
  if (parser.parseInteger(number))
    return failure();
  value = parser.getBuilder().getI32IntegerAttr(number);
  return success();
}

void printBareInt32(OpAsmPrinter &printer, Operation *, IntegerAttr value) {
  printer << value.getValue();
}

ParseResult parseBareBool(OpAsmParser &parser, BoolAttr &value) {
  StringRef word;
  SMLoc at = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&word, {"true", "false"})))
    return parser.emitError(at, "expected true or false");
  value = parser.getBuilder().getBoolAttr(word == "true");
  return success();
}

void printBareBool(OpAsmPrinter &printer, Operation *, BoolAttr value) {
  printer << (value.getValue() ? "true" : "false");
}

ParseResult parseExponentMantissa(OpAsmParser &parser, IntegerAttr &exponent,
                                  IntegerAttr &mantissa) {
  StringRef word;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  int32_t e = 0, m = 0;
  if (!word.consume_front("e") || word.consumeInteger(10, e) || !word.consume_front("m") ||
      word.getAsInteger(10, m))
    return parser.emitError(at, "expected a format such as e8m7");
  exponent = parser.getBuilder().getI32IntegerAttr(e);
  mantissa = parser.getBuilder().getI32IntegerAttr(m);
  return success();
}

void printExponentMantissa(OpAsmPrinter &printer, Operation *, IntegerAttr exponent,
                           IntegerAttr mantissa) {
  printer << "e" << exponent.getInt() << "m" << mantissa.getInt();
}

ParseResult parseOperandsThenDim(OpAsmParser &parser, SmallVectorImpl<Unresolved> &operands,
                                 IntegerAttr &dim) {
  do {
    if (succeeded(parser.parseOptionalKeyword("dim")))
      return failure(parser.parseEqual() || parseBareInt(parser, dim));
    if (parser.parseOperand(operands.emplace_back()))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.emitError(parser.getCurrentLocation(), "expected ', dim = N'");
}

void printOperandsThenDim(OpAsmPrinter &printer, Operation *, OperandRange operands,
                          IntegerAttr dim) {
  printer.printOperands(operands);
  printer << ", dim = " << dim.getInt();
}

ParseResult parseOperandsThenSizes(OpAsmParser &parser, Unresolved &operand,
                                   SmallVectorImpl<Unresolved> &starts, DenseI64ArrayAttr &sizes) {
  if (parser.parseOperand(operand) || parser.parseComma())
    return failure();
  do {
    (void)parser.parseOptionalComma(); // two of them where there is no start index
    if (succeeded(parser.parseOptionalKeyword("sizes")))
      return failure(parser.parseEqual() || parseDimArray(parser, sizes));
    if (parser.parseOperand(starts.emplace_back()))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.emitError(parser.getCurrentLocation(), "expected ', sizes = [..]'");
}

void printOperandsThenSizes(OpAsmPrinter &printer, Operation *, Value operand, OperandRange starts,
                            DenseI64ArrayAttr sizes) {
  printer << operand << ", ";
  for (Value start : starts)
    printer << start << ", ";
  printer << "sizes = ";
  sizes.print(printer);
}

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &start,
                             DenseI64ArrayAttr &limit, DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> starts, limits, steps;
  auto parseRange = [&]() -> ParseResult {
    steps.push_back(1);
    if (parser.parseInteger(starts.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limits.emplace_back()))
      return failure();
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(steps.back()) : success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseRange))
    return failure();
  start = parser.getBuilder().getDenseI64ArrayAttr(starts);
  limit = parser.getBuilder().getDenseI64ArrayAttr(limits);
  strides = parser.getBuilder().getDenseI64ArrayAttr(steps);
  return success();
}

void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr start,
                      DenseI64ArrayAttr limit, DenseI64ArrayAttr strides) {
  printer << "[";
  llvm::interleaveComma(llvm::seq<size_t>(0, start.size()), printer, [&](size_t i) {
    printer << start[i] << ":" << limit[i];
    if (strides[i] != 1)
      printer << ":" << strides[i];
  });
  printer << "]";
}

ParseResult parseCallTarget(OpAsmParser &parser, StringAttr &name) {
  return parser.parseSymbolName(name);
}
void printCallTarget(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer.printSymbolName(name);
}

} // namespace tessera::stablehlo
