#include "runtime/array/ParameterNames.h"
#include "runtime/array/Placement.h"
#include <algorithm>
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

} // namespace

std::string listOfParameters(const Parameters &parameters, std::string_view prefix) {
  constexpr size_t most = 20;
  std::string text = prefix == "out" ? "the program gives " : "the program expects ";
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

std::vector<size_t> treeBorders(std::string_view name) {
  std::vector<size_t> borders;
  char quote = 0;
  bool isInside = false; // brackets
  for (size_t i = 0; i < name.size(); ++i) {
    char c = name[i];
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (isInside && (c == '\'' || c == '"'))
      quote = c;
    else if (isInside)
      isInside = c != ']';
    else if (i && (c == '[' || c == '.'))
      borders.push_back(i);
    isInside |= !quote && c == '[';
  }
  borders.push_back(name.size());
  return borders;
}

size_t findOutside(std::string_view text, char separator) {
  char quote = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (depth && (c == '\'' || c == '"'))
      quote = c;
    else if (c == '[')
      ++depth;
    else if (c == ']')
      --depth;
    else if (c == separator && depth == 0)
      return i;
  }
  return text.size();
}

std::vector<std::string> splitNames(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    names.emplace_back(list.substr(0, findOutside(list, ',')));
    list.remove_prefix(std::min(list.size(), names.back().size() + 1));
  }
  return names;
}

std::string_view lastWord(std::string_view name) {
  std::vector<size_t> borders = treeBorders(name);
  if (borders.size() > 1)
    name.remove_prefix(borders[borders.size() - 2]);
  size_t begin = name.find_first_not_of(".['\""), end = name.find_last_not_of("]'\"");
  return begin == name.npos || end == name.npos ? "" : name.substr(begin, end + 1 - begin);
}

Result<std::vector<size_t>> matchNames(const Parameters &parameters, std::string_view prefix,
                                       const std::vector<std::string> &given,
                                       const std::vector<bool> &isGivenElsewhere) {
  auto byName = indices(parameters, prefix);
  std::vector<size_t> order(parameters.size(), kNotGiven);
  std::string wrong;
  for (size_t g = 0; g < given.size() && wrong.empty(); ++g) {
    auto found = byName.find(given[g]);
    if (found == byName.end())
      wrong = "array '" + given[g] + "' is given and is none of the program's";
    else if (order[found->second] != kNotGiven)
      wrong = "array '" + given[g] + "' and array '" + given[order[found->second]] +
              "' are given for the same parameter";
    else
      order[found->second] = g;
  }
  for (size_t i = 0; i < parameters.size() && wrong.empty(); ++i)
    if (order[i] == kNotGiven && (isGivenElsewhere.empty() || !isGivenElsewhere[i]))
      wrong = "array '" + std::string(prefix) + std::to_string(i) + "' is missing";
  if (!wrong.empty())
    return Status(Code::NotFound, wrong + ": " + listOfParameters(parameters, prefix));
  return order;
}

Result<size_t> indexOfName(const Parameters &parameters, std::string_view prefix,
                           std::string_view name) {
  auto byName = indices(parameters, prefix);
  auto found = byName.find(std::string(name));
  if (found == byName.end())
    return Status(Code::NotFound, "there is no '" + std::string(name) +
                                      "': " + listOfParameters(parameters, prefix));
  return found->second;
}

} // namespace tessera::runtime
