#include "runtime/array/Placement.h"
#include "runtime/array/ElementType.h"
#include <algorithm>

namespace tessera::runtime {

namespace {

std::string listText(const std::vector<int64_t> &list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? "," : "") + std::to_string(list[i]);
  return text + "]";
}

// The index of a device's tile along a dimension.
int64_t tileIndex(const program::DimLayout &dim, const MeshGrid &mesh, int64_t device) {
  return mesh.indexAlong(mesh.positionOf(device), dim.axes());
}

bool equalAxes(const program::DimLayout &a, const program::DimLayout &b) {
  return std::equal(
      a.axes().begin(), a.axes().end(), b.axes().begin(), b.axes().end(), [](auto &x, auto &y) {
        return x.axis() == y.axis() && x.pre_size() == y.pre_size() && x.size() == y.size();
      });
}

} // namespace

bool samePlacement(const program::Parameter &a, const MeshGrid &aMesh, const program::Parameter &b,
                   const MeshGrid &bMesh) {
  if (a.type() != b.type() || a.memory() != b.memory() || globalShape(a) != globalShape(b) ||
      localShape(a) != localShape(b) || aMesh.size() != bMesh.size())
    return false;
  for (int i = 0; i < a.layout_size(); ++i) {
    if (aMesh == bMesh && equalAxes(a.layout(i), b.layout(i)))
      continue;
    for (int64_t p = 0; p < aMesh.size(); ++p)
      if (int64_t device = aMesh.deviceAt(p);
          bMesh.positionOf(device) < 0 ||
          tileIndex(a.layout(i), aMesh, device) != tileIndex(b.layout(i), bMesh, device))
        return false;
  }
  return true;
}

std::string describeGlobal(const program::Parameter &parameter) {
  return std::string(nameOf(parameter.type())) + listText(globalShape(parameter));
}

std::string describe(const program::Parameter &parameter) {
  return describeGlobal(parameter) + " in tiles " + listText(localShape(parameter));
}

} // namespace tessera::runtime
