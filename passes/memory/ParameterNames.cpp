#include "passes/memory/ParameterNames.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace tessera::memory {

// A location's name, as JAX wraps it: in others, or around a place in a file.
static StringRef nameOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().getValue();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (StringRef name = nameOf(part); !name.empty())
        return name;
  return "";
}

// Names that are given come first: what has none must not take one of them.
static std::vector<std::string> distinct(std::vector<std::string> names, StringRef prefix) {
  llvm::StringSet<> taken;
  std::vector<size_t> open;
  for (std::string &name : names)
    name = llvm::json::fixUTF8(name); // bytes of the source, if damaged
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].empty() || !taken.insert(names[i]).second)
      open.push_back(i);
  for (size_t i : open) {
    std::string number = std::to_string(i);
    std::string name = names[i].empty() ? prefix.str() + number : names[i] + "." + number;
    while (!taken.insert(name).second)
      name += "." + number;
    names[i] = name;
  }
  return names;
}

std::vector<std::string> argumentNames(func::FuncOp func) {
  std::vector<std::string> names;
  for (BlockArgument argument : func.getArguments())
    names.push_back(nameOf(argument.getLoc()).str());
  return distinct(std::move(names), "in");
}

std::vector<std::string> resultNames(func::FuncOp func) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    auto info = func.getResultAttrOfType<StringAttr>(i, "jax.result_info");
    names.push_back(info ? info.getValue().str() : "");
  }
  return distinct(std::move(names), "out");
}

} // namespace tessera::memory
