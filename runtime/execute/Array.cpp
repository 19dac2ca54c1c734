#include "runtime/execute/Array.h"
#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"

namespace tessera::runtime {

namespace {

std::string listText(const std::vector<int64_t> &list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? "," : "") + std::to_string(list[i]);
  return text + "]";
}

// Parts of size 1 say nothing.
std::vector<int64_t> significantAxes(const program::DimLayout &dim) {
  std::vector<int64_t> list;
  for (const auto &ref : dim.axes())
    if (ref.size() > 1)
      list.insert(list.end(), {ref.axis(), ref.pre_size(), ref.size()});
  return list;
}

} // namespace

bool sameLayout(const program::Parameter &a, const program::Parameter &b) {
  if (a.type() != b.type() || globalShape(a) != globalShape(b))
    return false;
  for (int i = 0; i < a.layout_size(); ++i)
    if (a.layout(i).tile() != b.layout(i).tile() ||
        significantAxes(a.layout(i)) != significantAxes(b.layout(i)))
      return false;
  return true;
}

std::string describe(const program::Parameter &parameter) {
  return std::string(nameOf(parameter.type())) + listText(globalShape(parameter)) + " in tiles " +
         listText(localShape(parameter));
}

} // namespace tessera::runtime
