// The custom directives of the ops' text form: for each NAME, parseNAME reads and printNAME writes.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::stablehlo {

using Unresolved = mlir::OpAsmParser::UnresolvedOperand;
using mlir::ArrayAttr;
using mlir::ArrayRef;
using mlir::DenseBoolArrayAttr;
using mlir::DenseI64ArrayAttr;
using mlir::DenseIntElementsAttr;
using mlir::IntegerAttr;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::Operation;
using mlir::ParseResult;
using mlir::SmallVectorImpl;
using mlir::Type;
using mlir::TypeRange;

// One type when all are equal, else a function type.
ParseResult parseTypesOnceOrAll(OpAsmParser &parser, ArrayRef<Type *> types);
void printTypesOnceOrAll(OpAsmPrinter &printer, ArrayRef<Type> types);
template <typename... T> ParseResult parseSameTypes(OpAsmParser &parser, T &...types) {
  return parseTypesOnceOrAll(parser, {&types...});
}
template <typename... T> void printSameTypes(OpAsmPrinter &printer, Operation *, T... types) {
  printTypesOnceOrAll(printer, {Type(types)...});
}

// `i1 type, value type`, or a function type when the values' types differ.
ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse,
                             Type &result);
void printSelectTypes(OpAsmPrinter &printer, Operation *, Type pred, Type onTrue, Type onFalse,
                      Type result);

// The complex type alone when the parts' types follow from it.
ParseResult parseComplexTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result);
void printComplexTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type result);

ParseResult parsePairwiseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                               SmallVectorImpl<Type> &results);
void printPairwiseTypes(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange results);
ParseResult parseTupleTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result);
void printTupleTypes(OpAsmPrinter &printer, Operation *, TypeRange operands, Type result);

// `[0, 1]`.
ParseResult parseDimArray(OpAsmParser &parser, DenseI64ArrayAttr &dims);
void printDimArray(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr dims);

// An integer without its type.
ParseResult parseBareInt(OpAsmParser &parser, IntegerAttr &value);
void printBareInt(OpAsmPrinter &printer, Operation *, IntegerAttr value);
ParseResult parseBareInt32(OpAsmParser &parser, IntegerAttr &value);
void printBareInt32(OpAsmPrinter &printer, Operation *, IntegerAttr value);
ParseResult parseBareBool(OpAsmParser &parser, mlir::BoolAttr &value);
void printBareBool(OpAsmPrinter &printer, Operation *, mlir::BoolAttr value);

// The name of an enum's value without `#stablehlo<..>`.
template <typename EnumAttr> ParseResult parseBareEnum(OpAsmParser &parser, EnumAttr &attr) {
  using Enum = decltype(std::declval<EnumAttr>().getValue());
  llvm::StringRef word;
  llvm::SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return mlir::failure();
  std::optional<Enum> value = symbolizeEnum<Enum>(word);
  if (!value)
    return parser.emitError(at) << "unknown value '" << word << "'";
  attr = EnumAttr::get(parser.getContext(), *value);
  return mlir::success();
}
template <typename EnumAttr> void printBareEnum(OpAsmPrinter &printer, Operation *, EnumAttr attr) {
  printer << stringifyEnum(attr.getValue());
}

// `e8m7`.
ParseResult parseExponentMantissa(OpAsmParser &parser, IntegerAttr &exponent,
                                  IntegerAttr &mantissa);
void printExponentMantissa(OpAsmPrinter &printer, Operation *, IntegerAttr exponent,
                           IntegerAttr mantissa);

// `%a, %b, dim = 0`, `%x, %i, %j, sizes = [1, 2]`, `[0:4, 0:8:2]`.
ParseResult parseOperandsThenDim(OpAsmParser &parser, SmallVectorImpl<Unresolved> &operands,
                                 IntegerAttr &dim);
void printOperandsThenDim(OpAsmPrinter &printer, Operation *, mlir::OperandRange operands,
                          IntegerAttr dim);
ParseResult parseOperandsThenSizes(OpAsmParser &parser, Unresolved &operand,
                                   SmallVectorImpl<Unresolved> &starts, DenseI64ArrayAttr &sizes);
void printOperandsThenSizes(OpAsmPrinter &printer, Operation *, mlir::Value operand,
                            mlir::OperandRange starts, DenseI64ArrayAttr sizes);
ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &start,
                             DenseI64ArrayAttr &limit, DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr start,
                      DenseI64ArrayAttr limit, DenseI64ArrayAttr strides);

// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`, `, precision = [HIGH, HIGH], algorithm
// = <..>`.
ParseResult parseDotDimensions(OpAsmParser &parser, DotDimensionNumbersAttr &dims);
void printDotDimensions(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr dims);
ParseResult parsePrecisionAndAlgorithm(OpAsmParser &parser, ArrayAttr &precision,
                                       DotAlgorithmAttr &algorithm);
void printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *, ArrayAttr precision,
                                DotAlgorithmAttr algorithm);
ParseResult parsePrecisionList(OpAsmParser &parser, ArrayAttr &precision);
void printPrecisionList(OpAsmPrinter &printer, Operation *, ArrayAttr precision);

// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, or after the word `raw` each dimension by its name:
// `input_batch_dimension = 0, ..`, as what has no such form is printed. `stride = [1, 1], pad = [[0, 0], [0, 0]], ..`.
ParseResult parseConvolutionDimensions(mlir::AsmParser &parser, ConvDimensionNumbersAttr &dims);
ParseResult parseRawConvolutionDimensions(mlir::AsmParser &parser, ConvDimensionNumbersAttr &dims);
void printConvolutionDimensions(mlir::AsmPrinter &printer, ConvDimensionNumbersAttr dims);
inline void printConvolutionDimensions(OpAsmPrinter &printer, Operation *,
                                       ConvDimensionNumbersAttr dims) {
  printConvolutionDimensions(printer, dims);
}
ParseResult parseWindowAttributes(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                                  DenseIntElementsAttr &padding, DenseI64ArrayAttr &lhsDilation,
                                  DenseI64ArrayAttr &rhsDilation, DenseBoolArrayAttr &reversal);
void printWindowAttributes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides,
                           DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                           DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal);

// `@name`, held as a string.
ParseResult parseCallTarget(OpAsmParser &parser, mlir::StringAttr &name);
void printCallTarget(OpAsmPrinter &printer, Operation *, mlir::StringAttr name);

} // namespace tessera::stablehlo
