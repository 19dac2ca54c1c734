// Text of the axis attributes, and their conversion from and to plain data.
#include "dialects/comm/CommOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::comm;

#define GET_ATTRDEF_CLASSES
#include "dialects/comm/CommAttrs.cpp.inc"

void CommDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/comm/CommAttrs.cpp.inc"
      >();
}

namespace tessera::comm {

// "data"=4 | "model":(2)4
static FailureOr<AxisAttr> parseAxis(AsmParser &parser) {
  std::string name;
  int64_t preSize = 1, size = 0;
  if (parser.parseString(&name))
    return failure();
  bool whole = succeeded(parser.parseOptionalEqual());
  if (!whole && (parser.parseColon() || parser.parseLParen() || parser.parseInteger(preSize) ||
                 parser.parseRParen()))
    return failure();
  if (parser.parseInteger(size))
    return failure();
  if (size < 1 || preSize < 1)
    return parser.emitError(parser.getCurrentLocation(), "an axis has positive sizes"), failure();
  return AxisAttr::get(parser.getContext(), name, preSize, size, whole);
}

static void printAxis(AsmPrinter &printer, AxisAttr axis) {
  printer << '"' << axis.getName() << '"';
  if (axis.getWhole())
    printer << '=' << axis.getSize();
  else
    printer << ":(" << axis.getPreSize() << ')' << axis.getSize();
}

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxisAttr> axis = parseAxis(parser);
  if (failed(axis) || parser.parseGreater())
    return {};
  return *axis;
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxis(printer, *this);
  printer << '>';
}

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<AxisAttr> axes;
  auto one = [&]() -> ParseResult {
    FailureOr<AxisAttr> axis = parseAxis(parser);
    if (succeeded(axis))
      axes.push_back(*axis);
    return success(succeeded(axis));
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(mesh) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one) || parser.parseGreater())
    return {};
  return parser.getChecked<AxesAttr>(loc, parser.getContext(), mesh, ArrayRef<AxisAttr>(axes));
}

void AxesAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", [";
  llvm::interleaveComma(getAxes(), printer, [&](AxisAttr axis) { printAxis(printer, axis); });
  printer << "]>";
}

LogicalResult AxesAttr::verify(function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr,
                               ArrayRef<AxisAttr> axes) {
  for (auto [i, a] : llvm::enumerate(axes))
    for (AxisAttr b : axes.drop_front(i + 1)) {
      bool apart = a.getName() != b.getName() || (!a.getWhole() && !b.getWhole() &&
                                                  (a.getPreSize() * a.getSize() <= b.getPreSize() ||
                                                   b.getPreSize() * b.getSize() <= a.getPreSize()));
      if (!apart)
        return emitError() << "axis \"" << a.getName() << "\" is named twice";
    }
  return success();
}

int64_t AxesAttr::getGroupSize() const {
  int64_t size = 1;
  for (AxisAttr axis : getAxes())
    size *= axis.getSize();
  return size;
}

AxesAttr AxesAttr::get(MLIRContext *context, const sharding::Mesh &mesh,
                       ArrayRef<sharding::AxisRef> axes) {
  SmallVector<AxisAttr> attrs;
  for (const sharding::AxisRef &axis : axes)
    attrs.push_back(AxisAttr::get(context, mesh.axes[axis.axis].name, axis.preSize, axis.size,
                                  sharding::isWhole(mesh, axis)));
  return get(context, FlatSymbolRefAttr::get(context, mesh.name), attrs);
}

sharding::AxisRefs AxesAttr::toAxisRefs(const sharding::Mesh &mesh) const {
  sharding::AxisRefs refs;
  for (AxisAttr axis : getAxes())
    refs.push_back({mesh.axisIndex(axis.getName()), axis.getPreSize(), axis.getSize()});
  return refs;
}

} // namespace tessera::comm
