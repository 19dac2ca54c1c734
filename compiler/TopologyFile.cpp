#include "compiler/TopologyFile.h"

#include "compiler/Nesting.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/JSON.h"

namespace tessera {

static mlir::DictionaryAttr toDictionary(mlir::Builder &builder, const llvm::json::Object &object) {
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  for (const auto &[key, value] : object) {
    mlir::Attribute attribute;
    if (const llvm::json::Object *inner = value.getAsObject())
      attribute = toDictionary(builder, *inner);
    else if (auto number = value.getAsNumber())
      attribute = builder.getF64FloatAttr(*number);
    else if (auto string = value.getAsString())
      attribute = builder.getStringAttr(*string);
    if (attribute)
      attributes.push_back(builder.getNamedAttr(llvm::StringRef(key), attribute));
  }
  return builder.getDictionaryAttr(attributes);
}

llvm::Expected<mlir::DictionaryAttr> parseTopologyFile(mlir::MLIRContext *context,
                                                       llvm::StringRef text) {
  if (std::string wrong = refuseNestedJson(text); !wrong.empty())
    return llvm::createStringError(wrong);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return llvm::createStringError(
        "a topology is a JSON object, such as {\"alpha\": 1e-6, \"beta\": 1e11}");
  mlir::Builder builder(context);
  return toDictionary(builder, *object);
}

} // namespace tessera
