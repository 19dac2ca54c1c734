#include "compiler/source/TopologyFile.h"

#include "compiler/source/Nesting.h"
#include "lib/machines/Machines.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/JSON.h"

namespace tessera {
namespace {

// JSON as attributes: objects are dictionaries, numbers f64. Null where a null is in it.
mlir::Attribute toAttribute(mlir::Builder &builder, const llvm::json::Value &value) {
  switch (value.kind()) {
  case llvm::json::Value::Null:
    return {};
  case llvm::json::Value::Boolean:
    return builder.getBoolAttr(*value.getAsBoolean());
  case llvm::json::Value::Number:
    return builder.getF64FloatAttr(*value.getAsNumber());
  case llvm::json::Value::String:
    return builder.getStringAttr(*value.getAsString());
  case llvm::json::Value::Array: {
    llvm::SmallVector<mlir::Attribute> entries;
    for (const llvm::json::Value &entry : *value.getAsArray())
      if (entries.push_back(toAttribute(builder, entry)); !entries.back())
        return {};
    return builder.getArrayAttr(entries);
  }
  case llvm::json::Value::Object: {
    llvm::SmallVector<mlir::NamedAttribute> members;
    for (const auto &[name, member] : *value.getAsObject())
      if (mlir::Attribute attribute = toAttribute(builder, member))
        members.push_back(builder.getNamedAttr(llvm::StringRef(name), attribute));
      else
        return {};
    return builder.getDictionaryAttr(members);
  }
  }
  return {};
}

// Of JSON's "[1:16, byte=16]: Expected object key": "1:16: Expected object key".
std::string placed(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  auto [place, what] = llvm::StringRef(text).split("]: ");
  if (!place.consume_front("[") || what.empty())
    return text;
  return (place.split(',').first + ": " + what).str();
}

} // namespace

llvm::Expected<TopologyAttr> parseTopologyFile(mlir::Location location,
                                               llvm::StringRef nameOrText) {
  llvm::StringRef text = machines::topologyText(nameOrText);
  if (std::string wrong = refuseNestedJson(text); !wrong.empty())
    return llvm::createStringError(wrong);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return llvm::createStringError(placed(value.takeError()));
  if (!value->getAsObject())
    return llvm::createStringError(
        "a topology is a JSON object, such as {\"alpha\": 1e-6, \"beta\": 1e11}");
  mlir::Builder builder(location.getContext());
  mlir::Attribute members = toAttribute(builder, *value);
  if (!members)
    return llvm::createStringError("a topology has no null: leave out what is as in the default");
  return TopologyAttr::getChecked(location, location.getContext(),
                                  llvm::cast<mlir::DictionaryAttr>(members));
}

} // namespace tessera
