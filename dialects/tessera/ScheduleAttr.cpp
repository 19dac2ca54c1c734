// What the user asks of the order, in IR.
#include "dialects/tessera/TesseraDialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace tessera {

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SMLoc at;
  std::optional<int64_t> memory, scratchWithin;
  bool smallAttention = false;
  if (parser.parseLess() || parser.parseKeyword("overlap") || parser.parseEqual() ||
      parser.getCurrentLocation(&at) || parser.parseKeyword(&word))
    return {};
  std::optional<cost::Overlap> overlap = cost::overlapNamed(word);
  if (!overlap) {
    parser.emitError(at) << "'" << word << "' is no overlap; there are auto, on, off";
    return {};
  }
  while (!smallAttention && succeeded(parser.parseOptionalComma())) {
    smallAttention = succeeded(parser.parseOptionalKeyword("small_attention"));
    if (smallAttention)
      break;
    bool isMemory = !memory && !scratchWithin && succeeded(parser.parseOptionalKeyword("memory"));
    if (!isMemory && (scratchWithin || parser.parseKeyword("scratch_within")))
      return {};
    if (parser.parseEqual() || parser.parseInteger((isMemory ? memory : scratchWithin).emplace()))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), *overlap, memory,
                    scratchWithin, smallAttention);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<overlap = " << cost::nameOf(getOverlap());
  if (getMemory())
    printer << ", memory = " << *getMemory();
  if (getScratchWithin())
    printer << ", scratch_within = " << *getScratchWithin();
  if (getSmallAttention())
    printer << ", small_attention";
  printer << '>';
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> error, cost::Overlap,
                                   std::optional<int64_t> memory,
                                   std::optional<int64_t> scratchWithin, bool) {
  for (std::optional<int64_t> bytes : {memory, scratchWithin})
    if (bytes && *bytes <= 0)
      return error() << "a device has memory of a byte or more, not " << *bytes;
  return success();
}

} // namespace tessera
