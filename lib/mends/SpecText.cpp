#include "lib/mends/SpecText.h"

namespace tessera::mends {

std::string specText(const sharding::Mesh &mesh, const sharding::TensorSharding &sharding) {
  std::string text;
  for (const sharding::DimSharding &dim : sharding.dims) {
    std::string axes;
    for (const sharding::AxisRef &axis : dim.axes)
      axes += (axes.empty() ? "\"" : ", \"") + mesh.axes[axis.axis].name + "\"";
    text += text.empty() ? "P(" : ", ";
    text += dim.axes.empty() ? "None" : dim.axes.size() > 1 ? "(" + axes + ")" : axes;
  }
  return text.empty() ? "P()" : text + ")";
}

} // namespace tessera::mends
