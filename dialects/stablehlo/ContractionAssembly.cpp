// The text form of dot_general's and convolution's dimension numbers, precisions and windows.
#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace tessera::stablehlo {

//===------------------------------- Dimensions -------------------------------===//

static ParseResult parseDims(AsmParser &parser, SmallVectorImpl<int64_t> &dims) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(dims.emplace_back()); });
}

static void printDims(AsmPrinter &printer, ArrayRef<int64_t> dims) {
  printer << "[";
  llvm::interleaveComma(dims, printer);
  printer << "]";
}

ParseResult parseDotDimensions(OpAsmParser &parser, DotDimensionNumbersAttr &dims) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  if (succeeded(parser.parseOptionalKeyword("batching_dims"))) {
    if (parser.parseEqual() || parseDims(parser, lhsBatch) || parser.parseKeyword("x") ||
        parseDims(parser, rhsBatch) || parser.parseComma())
      return failure();
  }
  if (parser.parseKeyword("contracting_dims") || parser.parseEqual() ||
      parseDims(parser, lhsContract) || parser.parseKeyword("x") || parseDims(parser, rhsContract))
    return failure();
  dims = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatch, rhsBatch, lhsContract,
                                      rhsContract);
  return success();
}

void printDotDimensions(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr dims) {
  if (!dims.getLhsBatchingDimensions().empty() || !dims.getRhsBatchingDimensions().empty()) {
    printer << "batching_dims = ";
    printDims(printer, dims.getLhsBatchingDimensions());
    printer << " x ";
    printDims(printer, dims.getRhsBatchingDimensions());
    printer << ", ";
  }
  printer << "contracting_dims = ";
  printDims(printer, dims.getLhsContractingDimensions());
  printer << " x ";
  printDims(printer, dims.getRhsContractingDimensions());
}

//===------------------------------- Precision --------------------------------===//

static ParseResult parsePrecisionValues(OpAsmParser &parser, ArrayAttr &precision) {
  SmallVector<Attribute> values;
  if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        PrecisionAttr value;
        if (parseBareEnum(parser, value))
          return failure();
        values.push_back(value);
        return success();
      }))
    return failure();
  precision = parser.getBuilder().getArrayAttr(values);
  return success();
}

ParseResult parsePrecisionAndAlgorithm(OpAsmParser &parser, ArrayAttr &precision,
                                       DotAlgorithmAttr &algorithm) {
  while (succeeded(parser.parseOptionalComma())) {
    if (!precision && succeeded(parser.parseOptionalKeyword("precision"))) {
      if (parsePrecisionValues(parser, precision))
        return failure();
    } else if (parser.parseKeyword("algorithm") || parser.parseEqual()) {
      return failure();
    } else {
      algorithm = dyn_cast_or_null<DotAlgorithmAttr>(DotAlgorithmAttr::parse(parser, Type()));
      if (!algorithm)
        return failure();
    }
  }
  return success();
}

void printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *op, ArrayAttr precision,
                                DotAlgorithmAttr algorithm) {
  printPrecisionList(printer, op, precision);
  if (algorithm) {
    printer << ", algorithm = ";
    algorithm.print(printer);
  }
}

ParseResult parsePrecisionList(OpAsmParser &parser, ArrayAttr &precision) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword("precision") || parsePrecisionValues(parser, precision));
}

void printPrecisionList(OpAsmPrinter &printer, Operation *op, ArrayAttr precision) {
  if (!precision)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precision, printer,
                        [&](Attribute a) { printBareEnum(printer, op, cast<PrecisionAttr>(a)); });
  printer << "]";
}

//===------------------------------- Convolution ------------------------------===//

// One of `[b, 0, 1, f]`: two letters and the spatial dimensions by number.
static ParseResult parseRoles(AsmParser &parser, char first, char second, int64_t &firstDim,
                              int64_t &secondDim, SmallVectorImpl<int64_t> &spatial) {
  SMLoc at = parser.getCurrentLocation();
  llvm::SmallVector<std::pair<int64_t, int64_t>> numbered;
  int64_t position = 0;
  firstDim = secondDim = -1;
  auto parseRole = [&]() -> ParseResult {
    int64_t number;
    OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      numbered.push_back({number, position++});
      return *parsed;
    }
    if (succeeded(parser.parseOptionalQuestion())) {
      ++position;
      return success();
    }
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    if (word.size() != 1 || (word[0] != first && word[0] != second))
      return parser.emitError(at) << "expected '" << first << "', '" << second
                                  << "' or a spatial dimension, got '" << word << "'";
    (word[0] == first ? firstDim : secondDim) = position++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRole))
    return failure();
  llvm::sort(numbered);
  for (auto [i, entry] : llvm::enumerate(numbered)) {
    if (entry.first != int64_t(i))
      return parser.emitError(at) << "spatial dimension " << i << " is missing or given twice";
    spatial.push_back(entry.second);
  }
  if (firstDim < 0 || secondDim < 0)
    return parser.emitError(at) << "expected both '" << first << "' and '" << second << "'";
  return success();
}

static void printRoles(AsmPrinter &printer, char first, char second, int64_t firstDim,
                       int64_t secondDim, ArrayRef<int64_t> spatial) {
  int64_t rank = std::max(firstDim, secondDim) + 1;
  for (int64_t d : spatial)
    rank = std::max(rank, d + 1);
  SmallVector<std::string> roles(rank, "?");
  roles[firstDim] = first;
  roles[secondDim] = second;
  for (auto [i, d] : llvm::enumerate(spatial))
    roles[d] = std::to_string(i);
  printer << "[";
  llvm::interleaveComma(roles, printer);
  printer << "]";
}

ParseResult parseConvolutionDimensions(AsmParser &parser, ConvDimensionNumbersAttr &dims) {
  int64_t inB, inF, kI, kO, outB, outF;
  SmallVector<int64_t> in, kernel, out;
  // The `x` lexes apart from `[` on both sides.
  if (parseRoles(parser, 'b', 'f', inB, inF, in) || parser.parseKeyword("x") ||
      parseRoles(parser, 'i', 'o', kI, kO, kernel) || parser.parseArrow() ||
      parseRoles(parser, 'b', 'f', outB, outF, out))
    return failure();
  dims = ConvDimensionNumbersAttr::get(parser.getContext(), inB, inF, in, kI, kO, kernel, outB,
                                       outF, out);
  return success();
}

static const StringRef rawDims[] = {"input_batch_dimension",
                                    "input_feature_dimension",
                                    "kernel_input_feature_dimension",
                                    "kernel_output_feature_dimension",
                                    "output_batch_dimension",
                                    "output_feature_dimension"},
                       rawLists[] = {"input_spatial_dimensions", "kernel_spatial_dimensions",
                                     "output_spatial_dimensions"};

// `raw input_batch_dimension = 0, .., input_spatial_dimensions = [1, 2], ..` after the word: in any
// order, each at most once, all optional.
ParseResult parseRawConvolutionDimensions(AsmParser &parser, ConvDimensionNumbersAttr &dims) {
  int64_t n[std::size(rawDims)] = {};
  SmallVector<int64_t> l[std::size(rawLists)];
  llvm::SmallSet<StringRef, 16> seen;
  auto parseField = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (!seen.insert(name).second)
      return parser.emitError(at) << "'" << name << "' is given twice";
    if (auto *dim = llvm::find(rawDims, name); dim != std::end(rawDims))
      return parser.parseInteger(n[dim - rawDims]);
    if (auto *list = llvm::find(rawLists, name); list != std::end(rawLists))
      return parseDims(parser, l[list - rawLists]);
    return parser.emitError(at) << "unknown field '" << name << "'";
  };
  if (parser.parseCommaSeparatedList(parseField))
    return failure();
  dims = ConvDimensionNumbersAttr::get(parser.getContext(), n[0], n[1], l[0], n[2], n[3], l[1],
                                       n[4], n[5], l[2]);
  return success();
}

// Roles are written at their places, where each has one: no more than some tens.
static bool havePlaces(int64_t first, int64_t second, ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> dims{first, second};
  llvm::append_range(dims, spatial);
  return isUnique(dims) && llvm::all_of(dims, [](int64_t d) { return d >= 0 && d < 64; });
}

static void printRaw(AsmPrinter &printer, ConvDimensionNumbersAttr dims) {
  int64_t n[] = {dims.getInputBatchDimension(),         dims.getInputFeatureDimension(),
                 dims.getKernelInputFeatureDimension(), dims.getKernelOutputFeatureDimension(),
                 dims.getOutputBatchDimension(),        dims.getOutputFeatureDimension()};
  ArrayRef<int64_t> l[] = {dims.getInputSpatialDimensions(), dims.getKernelSpatialDimensions(),
                           dims.getOutputSpatialDimensions()};
  printer << "raw ";
  for (auto [name, dim] : llvm::zip(rawDims, n))
    printer << name << " = " << dim << ", ";
  llvm::interleaveComma(llvm::zip(rawLists, l), printer, [&](auto field) {
    printer << std::get<0>(field) << " = ";
    printDims(printer, std::get<1>(field));
  });
}

void printConvolutionDimensions(AsmPrinter &printer, ConvDimensionNumbersAttr dims) {
  if (!havePlaces(dims.getInputBatchDimension(), dims.getInputFeatureDimension(),
                  dims.getInputSpatialDimensions()) ||
      !havePlaces(dims.getKernelInputFeatureDimension(), dims.getKernelOutputFeatureDimension(),
                  dims.getKernelSpatialDimensions()) ||
      !havePlaces(dims.getOutputBatchDimension(), dims.getOutputFeatureDimension(),
                  dims.getOutputSpatialDimensions()))
    return printRaw(printer, dims);
  printRoles(printer, 'b', 'f', dims.getInputBatchDimension(), dims.getInputFeatureDimension(),
             dims.getInputSpatialDimensions());
  printer << "x";
  printRoles(printer, 'i', 'o', dims.getKernelInputFeatureDimension(),
             dims.getKernelOutputFeatureDimension(), dims.getKernelSpatialDimensions());
  printer << "->";
  printRoles(printer, 'b', 'f', dims.getOutputBatchDimension(), dims.getOutputFeatureDimension(),
             dims.getOutputSpatialDimensions());
}

//===--------------------------------- Window ---------------------------------===//

static ParseResult parsePadding(OpAsmParser &parser, DenseIntElementsAttr &padding) {
  SmallVector<int64_t> values;
  int64_t rows = 0;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return ++rows, parseDims(parser, values); }))
    return failure();
  if (int64_t(values.size()) != 2 * rows)
    return parser.emitError(at, "expected a low and a high padding for each spatial dimension");
  auto type = RankedTensorType::get({rows, 2}, parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

static ParseResult parseDimArrayOnce(OpAsmParser &parser, StringRef name, DenseI64ArrayAttr &dims) {
  if (dims)
    return parser.emitError(parser.getCurrentLocation()) << "'" << name << "' is given twice";
  return parseDimArray(parser, dims);
}

ParseResult parseWindowAttributes(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                                  DenseIntElementsAttr &padding, DenseI64ArrayAttr &lhsDilation,
                                  DenseI64ArrayAttr &rhsDilation, DenseBoolArrayAttr &reversal) {
  StringRef name;
  if (failed(parser.parseOptionalKeyword(&name)))
    return success();
  while (true) {
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseEqual())
      return failure();
    ParseResult parsed = failure();
    if (name == "stride")
      parsed = parseDimArrayOnce(parser, name, strides);
    else if (name == "lhs_dilate")
      parsed = parseDimArrayOnce(parser, name, lhsDilation);
    else if (name == "rhs_dilate")
      parsed = parseDimArrayOnce(parser, name, rhsDilation);
    else if (name == "pad")
      parsed = parsePadding(parser, padding);
    else if (name == "reverse")
      parsed = success(bool(reversal = dyn_cast_or_null<DenseBoolArrayAttr>(
                                DenseBoolArrayAttr::parse(parser, Type()))));
    else
      return parser.emitError(at) << "unknown window attribute '" << name << "'";
    if (parsed)
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
    if (parser.parseKeyword(&name))
      return failure();
  }
}

void printWindowAttributes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides,
                           DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                           DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  auto begin = [&](StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  };
  if (strides)
    begin("stride"), strides.print(printer);
  if (padding) {
    begin("pad");
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    printer << "[";
    llvm::interleaveComma(llvm::seq<size_t>(0, values.size() / 2), printer, [&](size_t i) {
      printer << "[" << values[2 * i] << ", " << values[2 * i + 1] << "]";
    });
    printer << "]";
  }
  if (lhsDilation)
    begin("lhs_dilate"), lhsDilation.print(printer);
  if (rhsDilation)
    begin("rhs_dilate"), rhsDilation.print(printer);
  if (reversal)
    begin("reverse"), reversal.print(printer);
}

} // namespace tessera::stablehlo
