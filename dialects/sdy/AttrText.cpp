// The text forms of sdy's attributes. An attribute's `print` gives its body alone, so that it nests
// without the dialect's name: #sdy.sharding<@mesh, [{"x", ?}p1]> holds dimension shardings, which
// hold axes. An attribute in a list may also be written out in full, as [#sdy.sharding<@mesh, []>].
#include "dialects/sdy/MeshOrder.h"
#include "dialects/sdy/SdyOps.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::sdy {
namespace {

using Delimiter = AsmParser::Delimiter;

// An element as it is printed, or written out in full.
template <typename T> ParseResult parseInto(AsmParser &parser, SmallVectorImpl<T> &list) {
  return parser.parseCustomAttributeWithFallback(list.emplace_back());
}

template <typename T>
ParseResult parseList(AsmParser &parser, Delimiter delimiter, SmallVectorImpl<T> &list) {
  return parser.parseCommaSeparatedList(delimiter, [&] { return parseInto(parser, list); });
}

template <typename T>
void printList(AsmPrinter &printer, StringRef open, ArrayRef<T> list, StringRef close) {
  printer << open;
  llvm::interleaveComma(list, printer.getStream(), [&](T attr) { attr.print(printer); });
  printer << close;
}

ParseResult parseNonEmptyAxes(AsmParser &parser, SmallVectorImpl<AxisRefAttr> &axes) {
  if (parser.parseLBrace() ||
      parser.parseCommaSeparatedList([&] { return parseInto(parser, axes); }))
    return failure();
  return parser.parseRBrace();
}

} // namespace

// mesh_axis: "x"=4

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t size;
  if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(size))
    return {};
  return get(parser.getContext(), name, size);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  printer << "=" << getSize();
}

// mesh: <["x"=2, "y"=4], device_ids=[0, 2, 1, 3]>

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> ids;
  if (parser.parseLess() || parseList(parser, Delimiter::Square, axes))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    auto id = [&] { return parser.parseInteger(ids.emplace_back()); };
    if (parser.parseKeyword("device_ids") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(Delimiter::Square, id))
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto mesh = getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(),
                         ArrayRef<MeshAxisAttr>(axes), ArrayRef<int64_t>(ids));
  return mesh ? withoutIota(mesh) : mesh;
}

void MeshAttr::print(AsmPrinter &printer) const {
  printList(printer, "<[", getAxes(), "]");
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer.getStream());
    printer << "]";
  }
  printer << ">";
}

// axis_ref: "x" or "x":(2)4

Attribute SubAxisInfoAttr::parse(AsmParser &parser, Type) {
  int64_t preSize, size;
  if (parser.parseLParen() || parser.parseInteger(preSize) || parser.parseRParen() ||
      parser.parseInteger(size))
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(),
                    preSize, size);
}

void SubAxisInfoAttr::print(AsmPrinter &printer) const {
  printer << "(" << getPreSize() << ")" << getSize();
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  std::string name;
  if (parser.parseString(&name))
    return {};
  SubAxisInfoAttr part;
  if (succeeded(parser.parseOptionalColon())) {
    part = dyn_cast_or_null<SubAxisInfoAttr>(SubAxisInfoAttr::parse(parser, Type()));
    if (!part)
      return {};
  }
  return get(parser.getContext(), name, part);
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  if (SubAxisInfoAttr part = getSubAxisInfo()) {
    printer << ":";
    part.print(printer);
  }
}

// lists of axes: {"x", "y"} and [{"x"}, {}]

Attribute AxisRefListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  if (parseList(parser, Delimiter::Braces, axes))
    return {};
  return get(parser.getContext(), axes);
}

void AxisRefListAttr::print(AsmPrinter &printer) const { printList(printer, "{", getValue(), "}"); }

Attribute ListOfAxisRefListsAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefListAttr> lists;
  if (parseList(parser, Delimiter::Square, lists))
    return {};
  return get(parser.getContext(), lists);
}

void ListOfAxisRefListsAttr::print(AsmPrinter &printer) const {
  printList(printer, "[", getValue(), "]");
}

Attribute ManualAxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  auto axis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(Delimiter::Braces, axis))
    return {};
  return get(parser.getContext(), axes);
}

void ManualAxesAttr::print(AsmPrinter &printer) const {
  printer << "{";
  llvm::interleaveComma(getValue(), printer.getStream(),
                        [&](StringAttr axis) { printer.printString(axis); });
  printer << "}";
}

// all_to_all_param: {"x"}: 0->1

Attribute AllToAllParamAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  int64_t source, target;
  if (parseList(parser, Delimiter::Braces, axes) || parser.parseColon() ||
      parser.parseInteger(source) || parser.parseArrow() || parser.parseInteger(target))
    return {};
  return get(parser.getContext(), axes, source, target);
}

void AllToAllParamAttr::print(AsmPrinter &printer) const {
  printList(printer, "{", getAxes(), "}");
  printer << ": " << getSrcDim() << "->" << getTgtDim();
}

Attribute AllToAllParamListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AllToAllParamAttr> params;
  if (parseList(parser, Delimiter::Square, params))
    return {};
  return get(parser.getContext(), params);
}

void AllToAllParamListAttr::print(AsmPrinter &printer) const {
  printList(printer, "[", getValue(), "]");
}

// dimension_sharding: {"x", ?}p1

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool open = false;
  auto element = [&]() -> ParseResult {
    if (open)
      return parser.emitError(parser.getCurrentLocation(),
                              "'?' must be the last element of a dimension sharding");
    if (succeeded(parser.parseOptionalQuestion())) {
      open = true;
      return success();
    }
    return parseInto(parser, axes);
  };
  if (parser.parseCommaSeparatedList(Delimiter::Braces, element))
    return {};
  std::optional<int64_t> priority;
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    int64_t value;
    if (!word.consume_front("p") || word.getAsInteger(10, value)) {
      parser.emitError(loc, "expected a priority: 'p' and a number");
      return {};
    }
    priority = value;
  }
  return get(parser.getContext(), axes, !open, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printList(printer, "{", getAxes(), "");
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << "}";
  if (getPriority())
    printer << "p" << *getPriority();
}

// sharding: <@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}>, or unreduced=max{"z"}. A sum is
// not written: readers that know of sums alone read what is printed.

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  Attribute mesh;
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  ReductionOp reduction = ReductionOp::SUM;
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    mesh = MeshAttr::parse(parser, Type());
  } else {
    StringAttr name;
    if (parser.parseSymbolName(name))
      return {};
    mesh = FlatSymbolRefAttr::get(name);
  }
  if (!mesh || parser.parseComma() || parseList(parser, Delimiter::Square, dims))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return {};
    SmallVectorImpl<AxisRefAttr> *axes = word == "replicated"  ? &replicated
                                         : word == "unreduced" ? &unreduced
                                                               : nullptr;
    if (!axes || !axes->empty()) {
      parser.emitError(loc, "expected 'replicated' or 'unreduced', each once at most");
      return {};
    }
    if (axes == &unreduced && succeeded(parser.parseOptionalKeyword(&word))) {
      std::optional<ReductionOp> given = symbolizeReductionOp(word);
      if (!given) {
        parser.emitError(loc,
                         "expected unreduced axes that are combined by sum, max or min, not by ")
            << word;
        return {};
      }
      reduction = *given;
    }
    if (parseNonEmptyAxes(parser, *axes))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, dims, replicated, unreduced, reduction);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer.printSymbolName(cast<FlatSymbolRefAttr>(getMeshOrRef()).getValue());
  }
  printList(printer, ", [", getDimShardings(), "]");
  if (!getReplicatedAxes().empty())
    printList(printer, ", replicated={", getReplicatedAxes(), "}");
  if (!getUnreducedAxes().empty()) {
    printer << ", unreduced=";
    if (getReductionOp() != ReductionOp::SUM)
      printer << stringifyReductionOp(getReductionOp());
    printList(printer, "{", getUnreducedAxes(), "}");
  }
  printer << ">";
}

// sharding_per_value: <[<@mesh, [..]>, ..]>

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorShardingAttr> shardings;
  if (parser.parseLess() || parseList(parser, Delimiter::Square, shardings) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), shardings);
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printList(printer, "<[", getShardings(), "]>");
}

} // namespace tessera::sdy
