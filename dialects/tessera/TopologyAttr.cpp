// A topology in IR: its text, its invariants, and the plain data that it stands for.
#include "dialects/tessera/TesseraDialect.h"
#include "dialects/tessera/TopologyMembers.h"
#include "lib/cost/KernelTerms.h"
#include "lib/cost/TopologyFields.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace tessera {
namespace {

// Takes the members of a dictionary into what they stand for. Costs are ratios of numbers, which
// have to stay finite. `here` leads to the dictionary.
class Reader {
public:
  Reader(DictionaryAttr members, std::vector<std::string> here, WrongMember &wrong)
      : members(members), here(std::move(here)), wrong(wrong) {}
  ~Reader() {
    for (NamedAttribute member : members)
      if (StringRef name = member.getName().getValue(); !known.contains(name))
        refuse(within(name), "no member '" + name + "' here");
  }

  void text(StringRef name, std::string &into) {
    if (Attribute member = take(name)) {
      if (auto string = dyn_cast<StringAttr>(member))
        into = string.str();
      else
        refuse(within(name), "'" + name + "' must be a string, found ", member);
    }
  }

  void number(StringRef name, double &into, cost::Least least) {
    if (Attribute member = take(name))
      readNumber(within(name), member, into, least);
  }

  void count(StringRef name, int64_t &into, cost::Least least, int64_t most = 9e15) {
    double number = static_cast<double>(into);
    this->number(name, number, least);
    if (number <= double(most) && number == std::floor(number))
      into = static_cast<int64_t>(number);
    else if (most == 2)
      refuse(within(name), "'" + name + "' must be 1 or 2");
    else
      refuse(within(name), "'" + name + "' must be a whole number up to 9e15");
  }

  template <class Map> void numbers(StringRef name, Map &into, cost::Least least) {
    forEntries(name, "an object", [&](StringRef key, Attribute value) {
      readNumber(within(name, key), value, into[key.str()], least);
    });
  }

  template <class Map, class T, class F>
  void map(StringRef name, Map &into, const T &base, F each) {
    forEntries(name, "an object of objects", [&](StringRef key, Attribute value) {
      auto inner = dyn_cast<DictionaryAttr>(value);
      if (!inner)
        return refuse(within(name, key),
                      "'" + key + "' of '" + name + "' must be an object, found ", value);
      Reader reader(inner, within(name, key), wrong);
      each(into.insert_or_assign(key.str(), base).first->second, reader);
    });
  }

  template <class List, class T, class F>
  void list(StringRef name, List &into, const T &base, F each) {
    Attribute member = take(name);
    auto array = dyn_cast_or_null<ArrayAttr>(member);
    if (member && !array)
      refuse(within(name), "'" + name + "' must be a list, found ", member);
    for (Attribute value : array ? array.getValue() : ArrayRef<Attribute>()) {
      auto inner = dyn_cast<DictionaryAttr>(value);
      std::vector<std::string> entry = within(name, std::to_string(into.size()));
      if (!inner)
        return refuse(entry, "an entry of '" + name + "' must be an object, found ", value);
      Reader reader(inner, entry, wrong);
      into.push_back(base);
      each(into.back(), reader);
    }
  }

private:
  Attribute take(StringRef name) {
    known.insert(name);
    return members.get(name);
  }

  template <class F> void forEntries(StringRef name, StringRef what, F each) {
    Attribute member = take(name);
    auto entries = dyn_cast_or_null<DictionaryAttr>(member);
    if (member && !entries)
      return refuse(within(name), "'" + name + "' must be " + what + ", found ", member);
    for (NamedAttribute entry : entries ? entries.getValue() : ArrayRef<NamedAttribute>())
      each(entry.getName().getValue(), entry.getValue());
  }

  std::vector<std::string> within(StringRef name) const {
    std::vector<std::string> path = here;
    path.push_back(name.str());
    return path;
  }
  std::vector<std::string> within(StringRef name, StringRef key) const {
    std::vector<std::string> path = within(name);
    path.push_back(key.str());
    return path;
  }

  void readNumber(const std::vector<std::string> &path, Attribute member, double &into,
                  cost::Least least) {
    auto number = dyn_cast<FloatAttr>(member);
    bool isRate = least == cost::Least::One;
    double value = number && number.getType().isF64() ? number.getValueAsDouble() : -1;
    if (value >= (isRate ? 1 : 0) && value <= 1e30)
      into = value;
    else
      refuse(path,
             "'" + path.back() + "' must be a number from " + (isRate ? "1" : "0") +
                 " to 1e30, such as " + (isRate ? "1e9" : "1e-6") + ", found ",
             member);
  }

  // The first thing that is wrong is said.
  void refuse(const std::vector<std::string> &where, const Twine &what, Attribute found = {}) {
    if (!wrong.what.empty())
      return;
    wrong.where = where;
    llvm::raw_string_ostream stream(wrong.what);
    stream << what;
    if (found)
      found.print(stream,
                  /*elideType=*/isa<FloatAttr>(found) && cast<FloatAttr>(found).getType().isF64());
  }

  DictionaryAttr members;
  std::vector<std::string> here;
  llvm::StringSet<> known;
  WrongMember &wrong;
};

// As far as nothing is wrong.
cost::Topology read(DictionaryAttr members, WrongMember &wrong) {
  cost::Topology topology = cost::defaultTopology();
  Reader reader(members, {}, wrong);
  cost::visitFields(topology, reader);
  return topology;
}

// As IR writes it: rates are looked up by that.
bool isElementType(StringRef text, MLIRContext *context) {
  ScopedDiagnosticHandler silent(context, [](Diagnostic &) { return success(); });
  size_t read = 0;
  Type type = parseType(text, context, &read);
  if (!type || read != text.size() || !isa<FloatType, IntegerType, ComplexType>(type))
    return false;
  std::string written;
  llvm::raw_string_ostream(written) << type;
  return written == text;
}

} // namespace

Attribute TopologyAttr::parse(AsmParser &parser, Type) {
  SmallVector<NamedAttribute> members;
  SMLoc at = parser.getCurrentLocation();
  auto parseMember = [&]() -> ParseResult {
    std::string name;
    Attribute value;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseAttribute(value))
      return failure();
    members.emplace_back(parser.getBuilder().getStringAttr(name), value);
    return success();
  };
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalGreater()))
    if (parser.parseCommaSeparatedList(parseMember) || parser.parseGreater())
      return {};
  if (DictionaryAttr::findDuplicate(members, /*isSorted=*/false)) {
    parser.emitError(at, "topology: a member that is there twice");
    return {};
  }
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(),
                    DictionaryAttr::get(parser.getContext(), members));
}

void TopologyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getMembers(), printer, [&](NamedAttribute member) {
    printer.printKeywordOrString(member.getName().getValue());
    printer << " = " << member.getValue();
  });
  printer << '>';
}

WrongMember findWrongMember(DictionaryAttr members) {
  WrongMember wrong;
  cost::Topology topology = read(members, wrong);
  if (wrong.what.empty())
    wrong = {links::wrongOf(topology.network), {"levels"}};
  auto refuse = [&](std::vector<std::string> where, const std::string &what) {
    if (wrong.what.empty())
      wrong = {what, std::move(where)};
  };
  for (const auto &[kind, rate] : topology.device.kernels)
    if (!cost::isKindOfWork(kind))
      refuse({"kernels", kind}, "no kind of work '" + kind + "' is known, in 'kernels'");
  for (const auto &[type, rate] : topology.device.flopsByType)
    if (!isElementType(type, members.getContext()))
      refuse({"flops_by_type", type},
             "'" + type + "' of 'flops_by_type' is no element type, such as bf16");
  for (const auto &[space, memory] : topology.spaces)
    if (space != "device" && space != "host")
      refuse({"spaces", space},
             "no memory '" + space + "' is known, in 'spaces': there are device and host");
  for (auto [name, number] : {std::pair("processors", topology.device.processors),
                              {"vector", topology.device.vectorBytes},
                              {"tiles", topology.device.tileRows}})
    if (number != std::floor(number))
      refuse({name}, "'" + std::string(name) + "' must be a whole number");
  return wrong;
}

LogicalResult TopologyAttr::verify(function_ref<InFlightDiagnostic()> error,
                                   DictionaryAttr members) {
  std::string wrong = findWrongMember(members).what;
  return wrong.empty() ? success() : LogicalResult(error() << "topology: " << wrong);
}

cost::Topology TopologyAttr::toTopology() const {
  WrongMember wrong;
  return read(getMembers(), wrong);
}

} // namespace tessera
