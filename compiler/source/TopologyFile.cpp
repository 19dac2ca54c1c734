#include "compiler/source/TopologyFile.h"

#include "compiler/source/Nesting.h"
#include "lib/machines/Machines.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/JSON.h"

namespace tessera {
namespace {

// JSON as attributes: objects are dictionaries, numbers f64.
mlir::Attribute toAttribute(mlir::Builder &builder, const llvm::json::Value &value) {
  switch (value.kind()) {
  case llvm::json::Value::Null:
    return builder.getUnitAttr();
  case llvm::json::Value::Boolean:
    return builder.getBoolAttr(*value.getAsBoolean());
  case llvm::json::Value::Number:
    return builder.getF64FloatAttr(*value.getAsNumber());
  case llvm::json::Value::String:
    return builder.getStringAttr(*value.getAsString());
  case llvm::json::Value::Array: {
    llvm::SmallVector<mlir::Attribute> entries;
    for (const llvm::json::Value &entry : *value.getAsArray())
      entries.push_back(toAttribute(builder, entry));
    return builder.getArrayAttr(entries);
  }
  case llvm::json::Value::Object: {
    llvm::SmallVector<mlir::NamedAttribute> members;
    for (const auto &[name, member] : *value.getAsObject())
      members.push_back(builder.getNamedAttr(llvm::StringRef(name), toAttribute(builder, member)));
    return builder.getDictionaryAttr(members);
  }
  }
  return {};
}

} // namespace

llvm::Expected<TopologyAttr> parseTopologyFile(mlir::Location location,
                                               llvm::StringRef nameOrText) {
  llvm::StringRef text = machines::topologyText(nameOrText);
  if (std::string wrong = refuseNestedJson(text); !wrong.empty())
    return llvm::createStringError(wrong);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return value.takeError();
  if (!value->getAsObject())
    return llvm::createStringError(
        "a topology is a JSON object, such as {\"alpha\": 1e-6, \"beta\": 1e11}");
  mlir::Builder builder(location.getContext());
  return TopologyAttr::getChecked(location, location.getContext(),
                                  llvm::cast<mlir::DictionaryAttr>(toAttribute(builder, *value)));
}

} // namespace tessera
