#include "runtime/array/ParameterNames.h"
#include "runtime/array/Placement.h"
#include <unordered_map>

namespace tessera::runtime {

namespace {

// A number or its own name, which comes first, to the index.
std::unordered_map<std::string, size_t> indices(const Parameters &parameters,
                                                std::string_view prefix) {
  std::unordered_map<std::string, size_t> byName;
  for (size_t i = 0; i < parameters.size(); ++i)
    byName.try_emplace(parameters[i]->name(), i);
  for (size_t i = 0; i < parameters.size(); ++i)
    byName.try_emplace(std::string(prefix) + std::to_string(i), i);
  return byName;
}

std::string expected(const Parameters &parameters, std::string_view prefix) {
  constexpr size_t most = 20;
  std::string text = "the program expects ";
  for (size_t i = 0; i < parameters.size() && i < most; ++i) {
    std::string number = std::string(prefix) + std::to_string(i);
    const std::string &name = parameters[i]->name();
    text += (i ? ", " : "") + number + (name.empty() || name == number ? "" : " ('" + name + "')") +
            " " + describeGlobal(*parameters[i]);
  }
  if (parameters.empty())
    text += "no arrays";
  return parameters.size() > most
             ? text + " and " + std::to_string(parameters.size() - most) + " more"
             : text;
}

} // namespace

Result<std::vector<size_t>> matchNames(const Parameters &parameters, std::string_view prefix,
                                       const std::vector<std::string> &given) {
  constexpr size_t none = SIZE_MAX;
  auto byName = indices(parameters, prefix);
  std::vector<size_t> order(parameters.size(), none);
  std::string wrong;
  for (size_t g = 0; g < given.size() && wrong.empty(); ++g) {
    auto found = byName.find(given[g]);
    if (found == byName.end())
      wrong = "array '" + given[g] + "' is given and is none of the program's";
    else if (order[found->second] != none)
      wrong = "array '" + given[g] + "' and array '" + given[order[found->second]] +
              "' are given for the same parameter";
    else
      order[found->second] = g;
  }
  for (size_t i = 0; i < parameters.size() && wrong.empty(); ++i)
    if (order[i] == none)
      wrong = "array '" + std::string(prefix) + std::to_string(i) + "' is missing";
  if (!wrong.empty())
    return Status(Code::NotFound, wrong + ": " + expected(parameters, prefix));
  return order;
}

Result<size_t> indexOfName(const Parameters &parameters, std::string_view prefix,
                           std::string_view name) {
  auto byName = indices(parameters, prefix);
  auto found = byName.find(std::string(name));
  if (found == byName.end())
    return Status(Code::NotFound,
                  "there is no '" + std::string(name) + "': " + expected(parameters, prefix));
  return found->second;
}

} // namespace tessera::runtime
