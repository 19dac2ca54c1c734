#include "compiler/TopologyFile.h"

#include "compiler/Nesting.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"

namespace tessera {
namespace {

// The numbers of one object; false where something else stands in the place of one.
class Numbers {
public:
  Numbers(mlir::Location location, const llvm::json::Object &object)
      : location(location), object(object) {}

  mlir::FloatAttr get(llvm::StringRef name) {
    const llvm::json::Value *value = object.get(name);
    std::optional<double> number = value ? value->getAsNumber() : std::nullopt;
    if (value && !number) {
      wrong = true;
      mlir::emitError(location) << "topology: '" << name << "' must be a number";
    }
    return number ? mlir::Builder(location.getContext()).getF64FloatAttr(*number)
                  : mlir::FloatAttr();
  }

  bool wrong = false;

private:
  mlir::Location location;
  const llvm::json::Object &object;
};

LinkAttr toLink(mlir::Location location, const llvm::json::Object &object) {
  Numbers numbers(location, object);
  mlir::FloatAttr alpha = numbers.get("alpha"), beta = numbers.get("beta");
  return numbers.wrong ? LinkAttr()
                       : LinkAttr::getChecked(location, location.getContext(), alpha, beta);
}

TopologyAttr toTopology(mlir::Location location, const llvm::json::Object &object) {
  mlir::Builder builder(location.getContext());
  Numbers numbers(location, object);
  mlir::FloatAttr alpha = numbers.get("alpha"), beta = numbers.get("beta"),
                  flops = numbers.get("flops"), memory = numbers.get("memory");
  if (numbers.wrong)
    return {};
  llvm::SmallVector<mlir::NamedAttribute> axes;
  if (const llvm::json::Object *links = object.getObject("axes"))
    for (const auto &[axis, value] : *links) {
      const llvm::json::Object *inner = value.getAsObject();
      if (!inner) {
        mlir::emitError(location) << "topology: axis \"" << llvm::StringRef(axis)
                                  << "\" must be an object {\"alpha\": .., \"beta\": ..}";
        return {};
      }
      LinkAttr link = toLink(location, *inner);
      if (!link)
        return {};
      axes.push_back(builder.getNamedAttr(llvm::StringRef(axis), link));
    }
  std::optional<llvm::StringRef> name = object.getString("name");
  return TopologyAttr::getChecked(
      location, location.getContext(), name ? builder.getStringAttr(*name) : mlir::StringAttr(),
      alpha, beta, flops, memory,
      axes.empty() ? mlir::DictionaryAttr() : builder.getDictionaryAttr(axes));
}

} // namespace

llvm::Expected<TopologyAttr> parseTopologyFile(mlir::Location location, llvm::StringRef text) {
  if (std::string wrong = refuseNestedJson(text); !wrong.empty())
    return llvm::createStringError(wrong);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return llvm::createStringError(
        "a topology is a JSON object, such as {\"alpha\": 1e-6, \"beta\": 1e11}");
  return toTopology(location, *object);
}

} // namespace tessera
