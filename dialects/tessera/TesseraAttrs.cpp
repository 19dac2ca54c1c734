// Text and invariants of the attributes.
#include "dialects/tessera/TesseraDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/tessera/TesseraEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tessera/TesseraAttrs.cpp.inc"

namespace tessera {

void TesseraDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tessera/TesseraAttrs.cpp.inc"
      >();
}

LogicalResult TripCountAttr::verify(function_ref<InFlightDiagnostic()> error, int64_t trips) {
  return trips >= 0 ? success() : error() << "a loop runs 0 times or more, not " << trips;
}

// --- Partial ---

static StringRef nameOf(sharding::ReductionKind kind) {
  switch (kind) {
  case sharding::ReductionKind::Sum:
    return "sum";
  case sharding::ReductionKind::Product:
    return "product";
  case sharding::ReductionKind::Max:
    return "max";
  case sharding::ReductionKind::Min:
    return "min";
  case sharding::ReductionKind::And:
    return "and";
  case sharding::ReductionKind::Or:
    return "or";
  }
  llvm_unreachable("all kinds have names");
}

static std::optional<sharding::ReductionKind> kindNamed(StringRef name) {
  using sharding::ReductionKind;
  for (ReductionKind kind : {ReductionKind::Sum, ReductionKind::Product, ReductionKind::Max,
                             ReductionKind::Min, ReductionKind::And, ReductionKind::Or})
    if (nameOf(kind) == name)
      return kind;
  return std::nullopt;
}

Attribute PartialAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  SMLoc at;
  if (parser.parseLess() || parser.getCurrentLocation(&at) || parser.parseKeyword(&name))
    return {};
  std::optional<sharding::ReductionKind> kind = kindNamed(name);
  if (!kind) {
    parser.emitError(at) << "'" << name
                         << "' is no way to combine parts; there are product, max, min, and, or";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), *kind);
}

void PartialAttr::print(AsmPrinter &printer) const { printer << '<' << nameOf(getKind()) << '>'; }

LogicalResult PartialAttr::verify(function_ref<InFlightDiagnostic()> error,
                                  sharding::ReductionKind kind) {
  if (kind == sharding::ReductionKind::Sum)
    return error() << "parts that are added have no mark";
  return success();
}

// --- Explanations ---

static LogicalResult verifyLines(function_ref<InFlightDiagnostic()> error, ArrayAttr lines) {
  for (Attribute line : lines)
    if (!isa<StringAttr>(line))
      return error() << "a line of an explanation is a string, not " << line;
  return success();
}

LogicalResult OriginAttr::verify(function_ref<InFlightDiagnostic()> error,
                                 ArrayRef<ArrayAttr> lines) {
  for (ArrayAttr each : lines)
    if (failed(verifyLines(error, each)))
      return failure();
  return success();
}

LogicalResult ConflictAttr::verify(function_ref<InFlightDiagnostic()> error, ArrayAttr lines) {
  return verifyLines(error, lines);
}

// --- Target ---

ProcessorAttr ProcessorAttr::of(MLIRContext *context, const target::Processor &processor) {
  SmallVector<StringAttr> features;
  for (const std::string &feature : processor.features)
    features.push_back(StringAttr::get(context, feature));
  return get(context, processor.name, processor.vectorBits, features);
}

target::Processor ProcessorAttr::toProcessor() const {
  target::Processor processor{getName().str(), getVectorBits(), {}};
  for (StringAttr feature : getFeatures())
    processor.features.push_back(feature.str());
  return processor;
}

TargetAttr TargetAttr::of(MLIRContext *context, const target::Choice &choice) {
  SmallVector<ProcessorAttr> processors;
  for (const target::Processor &processor : choice.processors)
    processors.push_back(ProcessorAttr::of(context, processor));
  return get(context, choice.target, processors);
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  SmallVector<ProcessorAttr> processors;
  SMLoc at;
  if (parser.parseLess() || parser.getCurrentLocation(&at) || parser.parseKeyword(&name))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    auto processor = dyn_cast_or_null<ProcessorAttr>(ProcessorAttr::parse(parser, {}));
    if (!processor)
      return {};
    processors.push_back(processor);
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), name, processors);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << '<' << getName();
  for (ProcessorAttr processor : getProcessors()) {
    printer << ", ";
    processor.print(printer);
  }
  printer << '>';
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> error, StringRef name,
                                 ArrayRef<ProcessorAttr> processors) {
  if (llvm::Expected<target::Target> known = target::find(name); !known)
    return error() << llvm::toString(known.takeError());
  if (processors.empty())
    return error() << "target '" << name
                   << "' needs a processor, such as <\"x86-64-v3\", "
                      "vector_bits = 256>";
  return success();
}

} // namespace tessera
