// What the user asks of the order, in IR.
#include "dialects/tessera/TesseraDialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace tessera {

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SMLoc at;
  std::optional<int64_t> memory;
  if (parser.parseLess() || parser.parseKeyword("overlap") || parser.parseEqual() ||
      parser.getCurrentLocation(&at) || parser.parseKeyword(&word))
    return {};
  std::optional<cost::Overlap> overlap = cost::overlapNamed(word);
  if (!overlap) {
    parser.emitError(at) << "'" << word << "' is no overlap; there are auto, on, off";
    return {};
  }
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("memory") || parser.parseEqual() ||
       parser.parseInteger(memory.emplace())))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), *overlap, memory);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<overlap = " << cost::nameOf(getOverlap());
  if (getMemory())
    printer << ", memory = " << *getMemory();
  printer << '>';
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> error, cost::Overlap,
                                   std::optional<int64_t> memory) {
  return !memory || *memory > 0
             ? success()
             : LogicalResult(error() << "a device has memory of a byte or more, not " << *memory);
}

} // namespace tessera
