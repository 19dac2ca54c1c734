#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::stablehlo;

#include "dialects/stablehlo/StablehloEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/stablehlo/StablehloAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/stablehlo/StablehloTypes.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/stablehlo/StablehloAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/stablehlo/StablehloTypes.cpp.inc"
      >();
}

//===------------------- Named lists of dimensions in <..> --------------------===//

static ParseResult parseDims(AsmParser &parser, SmallVectorImpl<int64_t> &dims) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(dims.emplace_back()); });
}

// `<name = [0, 1], .., index_vector_dim = 1>` in any order, each at most once, all optional.
static ParseResult parseNamedDims(AsmParser &parser, ArrayRef<StringRef> names,
                                  MutableArrayRef<SmallVector<int64_t>> lists,
                                  int64_t *indexVectorDim) {
  SmallVector<bool> seen(names.size() + 1);
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    size_t i = llvm::find(names, name) - names.begin();
    if (i == names.size() && !(indexVectorDim && name == "index_vector_dim"))
      return parser.emitError(at) << "unknown field '" << name << "'";
    if (std::exchange(seen[i], true))
      return parser.emitError(at) << "'" << name << "' is given twice";
    return i == names.size() ? parser.parseInteger(*indexVectorDim) : parseDims(parser, lists[i]);
  });
}

static void printNamedDims(AsmPrinter &printer, ArrayRef<StringRef> names,
                           ArrayRef<ArrayRef<int64_t>> lists, int64_t indexVectorDim) {
  StringRef separator = "";
  printer << "<";
  for (auto [name, list] : llvm::zip(names, lists)) {
    if (list.empty())
      continue;
    printer << std::exchange(separator, ", ") << name << " = [";
    llvm::interleaveComma(list, printer);
    printer << "]";
  }
  if (indexVectorDim)
    printer << separator << "index_vector_dim = " << indexVectorDim;
  printer << ">";
}

static const StringRef dotNames[] = {"lhs_batching_dimensions", "rhs_batching_dimensions",
                                     "lhs_contracting_dimensions", "rhs_contracting_dimensions"};

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> l[4];
  if (parseNamedDims(parser, dotNames, l, nullptr))
    return {};
  return get(parser.getContext(), l[0], l[1], l[2], l[3]);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printNamedDims(printer, dotNames,
                 {getLhsBatchingDimensions(), getRhsBatchingDimensions(),
                  getLhsContractingDimensions(), getRhsContractingDimensions()},
                 0);
}

static const StringRef gatherNames[] = {"offset_dims", "collapsed_slice_dims",
                                        "operand_batching_dims", "start_indices_batching_dims",
                                        "start_index_map"};

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> l[5];
  int64_t indexVectorDim = 0;
  if (parseNamedDims(parser, gatherNames, l, &indexVectorDim))
    return {};
  return get(parser.getContext(), l[0], l[1], l[2], l[3], l[4], indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printNamedDims(printer, gatherNames,
                 {getOffsetDims(), getCollapsedSliceDims(), getOperandBatchingDims(),
                  getStartIndicesBatchingDims(), getStartIndexMap()},
                 getIndexVectorDim());
}

static const StringRef scatterNames[] = {"update_window_dims", "inserted_window_dims",
                                         "input_batching_dims", "scatter_indices_batching_dims",
                                         "scatter_dims_to_operand_dims"};

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> l[5];
  int64_t indexVectorDim = 0;
  if (parseNamedDims(parser, scatterNames, l, &indexVectorDim))
    return {};
  return get(parser.getContext(), l[0], l[1], l[2], l[3], l[4], indexVectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printNamedDims(printer, scatterNames,
                 {getUpdateWindowDims(), getInsertedWindowDims(), getInputBatchingDims(),
                  getScatterIndicesBatchingDims(), getScatterDimsToOperandDims()},
                 getIndexVectorDim());
}

//===----------------------------- Other attributes ---------------------------===//

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr dims;
  if (parser.parseLess())
    return {};
  bool isRaw = succeeded(parser.parseOptionalKeyword("raw"));
  if (isRaw ? parseRawConvolutionDimensions(parser, dims)
            : parseConvolutionDimensions(parser, dims))
    return {};
  return parser.parseGreater() ? Attribute() : dims;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printConvolutionDimensions(printer, *this);
  printer << ">";
}

Attribute OutputOperandAliasAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> output, operand;
  int64_t index;
  if (parser.parseLess() || parser.parseKeyword("output_tuple_indices") || parser.parseEqual() ||
      parseDims(parser, output) || parser.parseComma() || parser.parseKeyword("operand_index") ||
      parser.parseEqual() || parser.parseInteger(index) || parser.parseComma() ||
      parser.parseKeyword("operand_tuple_indices") || parser.parseEqual() ||
      parseDims(parser, operand) || parser.parseGreater())
    return {};
  return get(parser.getContext(), output, index, operand);
}

void OutputOperandAliasAttr::print(AsmPrinter &printer) const {
  printer << "<output_tuple_indices = [";
  llvm::interleaveComma(getOutputTupleIndices(), printer);
  printer << "], operand_index = " << getOperandIndex() << ", operand_tuple_indices = [";
  llvm::interleaveComma(getOperandTupleIndices(), printer);
  printer << "]>";
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  DenseIntElementsAttr devices;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("axes") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseCustomAttributeWithFallback(axes.emplace_back());
      }))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() || parser.parseAttribute(devices)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), axes, devices);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<axes=[";
  llvm::interleaveComma(getAxes(), printer,
                        [&](MeshAxisAttr axis) { printer.printStrippedAttrOrType(axis); });
  printer << "]";
  if (getDeviceIds())
    printer << ", device_ids=" << getDeviceIds();
  printer << ">";
}

ResultAccuracyAttr defaultAccuracy(MLIRContext *context) {
  return ResultAccuracyAttr::get(context, APFloat(0.0), APFloat(0.0), 0,
                                 ResultAccuracyModeAttr::get(context, ResultAccuracyMode::DEFAULT));
}

LogicalResult ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> error, APFloat atol,
                                         APFloat rtol, int64_t ulps, ResultAccuracyModeAttr) {
  if (atol.isNegative() || rtol.isNegative() || ulps < 0)
    return error() << "a tolerance must not be negative";
  return success();
}

// `<atol = 1.0e-5, rtol = 0.0, ulps = 2, mode = ..>`: numbers that are zero are left out.
Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
        SMLoc at = parser.getCurrentLocation();
        StringRef name;
        if (parser.parseKeyword(&name) || parser.parseEqual())
          return failure();
        if (name == "atol")
          return parser.parseFloat(atol);
        if (name == "rtol")
          return parser.parseFloat(rtol);
        if (name == "ulps")
          return parser.parseInteger(ulps);
        if (name == "mode")
          return parser.parseCustomAttributeWithFallback(mode);
        return parser.emitError(at) << "unknown field '" << name << "'";
      }))
    return {};
  if (!mode) {
    parser.emitError(parser.getCurrentLocation(), "expected 'mode'");
    return {};
  }
  return parser.getChecked<ResultAccuracyAttr>(parser.getContext(), APFloat(atol), APFloat(rtol),
                                               ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (!getAtol().isZero()) {
    printer << "atol = ";
    printer.printFloat(getAtol());
    printer << ", ";
  }
  if (!getRtol().isZero()) {
    printer << "rtol = ";
    printer.printFloat(getRtol());
    printer << ", ";
  }
  if (getUlps())
    printer << "ulps = " << getUlps() << ", ";
  printer << "mode = " << getMode() << ">";
}

Attribute TypeExtensionsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bounds;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
        if (succeeded(parser.parseOptionalQuestion())) {
          bounds.push_back(ShapedType::kDynamic);
          return success();
        }
        return parser.parseInteger(bounds.emplace_back());
      }))
    return {};
  return get(parser.getContext(), bounds);
}

void TypeExtensionsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getBounds(), printer, [&](int64_t b) {
    if (ShapedType::isDynamic(b))
      printer << "?";
    else
      printer << b;
  });
  printer << ">";
}

} // namespace tessera::stablehlo
