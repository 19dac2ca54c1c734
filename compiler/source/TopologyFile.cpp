#include "compiler/source/TopologyFile.h"

#include "dialects/tessera/TopologyMembers.h"
#include "lib/machines/Machines.h"
#include "lib/text/JsonValue.h"

#include "mlir/IR/Builders.h"

namespace tessera {
namespace {

using Kind = text::JsonValue::Kind;

// JSON as attributes: objects are dictionaries, numbers f64. A null is a unit, which no member is.
mlir::Attribute toAttribute(mlir::Builder &builder, const text::JsonValue &value) {
  switch (value.kind) {
  case Kind::Null:
    return builder.getUnitAttr();
  case Kind::Boolean:
    return builder.getBoolAttr(value.boolean);
  case Kind::Number:
    return builder.getF64FloatAttr(value.number);
  case Kind::String:
    return builder.getStringAttr(value.string);
  case Kind::List: {
    llvm::SmallVector<mlir::Attribute> entries;
    for (const text::JsonValue &entry : value.entries)
      entries.push_back(toAttribute(builder, entry));
    return builder.getArrayAttr(entries);
  }
  case Kind::Object: {
    llvm::SmallVector<mlir::NamedAttribute> members;
    for (const auto &[name, member] : value.members)
      members.push_back(builder.getNamedAttr(name, toAttribute(builder, member)));
    return builder.getDictionaryAttr(members);
  }
  }
  return {};
}

// The place of a null, empty where there is none.
std::string findNull(const text::JsonValue &value) {
  if (value.kind == Kind::Null)
    return value.place({});
  for (const text::JsonValue &entry : value.entries)
    if (std::string place = findNull(entry); !place.empty())
      return place;
  for (const auto &[name, member] : value.members)
    if (std::string place = findNull(member); !place.empty())
      return place;
  return "";
}

} // namespace

llvm::Expected<TopologyAttr> parseTopologyFile(mlir::MLIRContext *context,
                                               llvm::StringRef nameOrText) {
  text::JsonValue value;
  if (std::string wrong =
          text::parseJson(machines::topologyText(nameOrText), machines::kMostNested, value);
      !wrong.empty())
    return llvm::createStringError(wrong);
  if (value.kind != Kind::Object)
    return llvm::createStringError(
        value.place({}) +
        ": a topology is a JSON object, such as {\"alpha\": 1e-6, \"beta\": 1e11}");
  if (std::string place = findNull(value); !place.empty())
    return llvm::createStringError(place +
                                   ": a topology has no null: leave out what is as in the default");
  mlir::Builder builder(context);
  auto members = llvm::cast<mlir::DictionaryAttr>(toAttribute(builder, value));
  if (WrongMember wrong = findWrongMember(members); !wrong.what.empty())
    return llvm::createStringError(value.place(wrong.where) + ": " + wrong.what);
  return TopologyAttr::get(context, members);
}

} // namespace tessera
