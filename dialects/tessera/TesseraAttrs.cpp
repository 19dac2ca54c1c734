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

// --- Topology ---

// A time or rate of at least `least`; costs are ratios of these, and have to stay finite.
static LogicalResult verifyNumber(function_ref<InFlightDiagnostic()> error, StringRef name,
                                  double least, FloatAttr number) {
  if (!number)
    return success();
  double value = number.getValueAsDouble();
  if (number.getType().isF64() && value >= least && value <= 1e30)
    return success();
  return error() << "topology: '" << name << "' must be a number from " << (least > 0 ? "1" : "0")
                 << " to 1e30, such as " << (least > 0 ? "1e9" : "1e-6") << ", found " << number;
}

LogicalResult LinkAttr::verify(function_ref<InFlightDiagnostic()> error, FloatAttr alpha,
                               FloatAttr beta) {
  return success(succeeded(verifyNumber(error, "alpha", 0, alpha)) &&
                 succeeded(verifyNumber(error, "beta", 1, beta)));
}

LogicalResult TopologyAttr::verify(function_ref<InFlightDiagnostic()> error, StringAttr name,
                                   FloatAttr alpha, FloatAttr beta, FloatAttr flops,
                                   FloatAttr memory, DictionaryAttr axes) {
  if (failed(verifyNumber(error, "alpha", 0, alpha)) ||
      failed(verifyNumber(error, "beta", 1, beta)) ||
      failed(verifyNumber(error, "flops", 1, flops)) ||
      failed(verifyNumber(error, "memory", 1, memory)))
    return failure();
  if (axes)
    for (NamedAttribute axis : axes)
      if (!isa<LinkAttr>(axis.getValue()))
        return error() << "topology: axis " << axis.getName()
                       << " must have a link {alpha = .., beta = ..}";
  return success();
}

cost::Topology TopologyAttr::toTopology() const {
  cost::Topology topology = cost::defaultTopology();
  auto take = [](FloatAttr from, double &into) {
    if (from)
      into = from.getValueAsDouble();
  };
  if (getName())
    topology.name = getName().str();
  take(getAlpha(), topology.link.alpha);
  take(getBeta(), topology.link.beta);
  take(getFlops(), topology.flopsPerSecond);
  take(getMemory(), topology.bytesPerSecond);
  if (getAxes())
    for (NamedAttribute axis : getAxes()) {
      cost::Link &link = topology.axes[axis.getName().str()] = topology.link;
      take(cast<LinkAttr>(axis.getValue()).getAlpha(), link.alpha);
      take(cast<LinkAttr>(axis.getValue()).getBeta(), link.beta);
    }
  return topology;
}

} // namespace tessera
