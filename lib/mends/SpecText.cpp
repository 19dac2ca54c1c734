#include "lib/mends/SpecText.h"

namespace tessera::mends {

std::string axisText(const sharding::Mesh &mesh, const sharding::AxisRef &axis) {
  std::string text = mesh.axes[axis.axis].name;
  if (!sharding::isWhole(mesh, axis))
    text += ":(" + std::to_string(axis.preSize) + ")" + std::to_string(axis.size);
  return text;
}

std::string specText(const sharding::Mesh &mesh, const sharding::TensorSharding &sharding) {
  std::string text;
  for (const sharding::DimSharding &dim : sharding.dims) {
    std::string axes;
    for (const sharding::AxisRef &axis : dim.axes)
      axes += (axes.empty() ? "\"" : ", \"") + axisText(mesh, axis) + "\"";
    text += text.empty() ? "P(" : ", ";
    text += dim.axes.empty() ? "None" : dim.axes.size() > 1 ? "(" + axes + ")" : axes;
  }
  return text.empty() ? "P()" : text + ")";
}

} // namespace tessera::mends
