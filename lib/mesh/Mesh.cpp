#include "lib/mesh/Mesh.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::sharding {

int64_t Mesh::numDevices() const {
  int64_t n = 1;
  for (const MeshAxis &axis : axes)
    n *= axis.size;
  return n;
}

int32_t Mesh::axisIndex(llvm::StringRef axisName) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axisName == axes[i].name)
      return i;
  return -1;
}

AxisRef wholeAxis(const Mesh &mesh, int32_t axis) { return {axis, 1, mesh.axes[axis].size}; }

bool isWhole(const Mesh &mesh, const AxisRef &ref) {
  return ref.preSize == 1 && ref.size == mesh.axes[ref.axis].size;
}

// Parts of no one splitting of an axis, as x:(1)2 and x:(3)2 of "x"=6, have no device in common for
// some pairs of places: they can't be used together either.
bool overlap(const AxisRef &a, const AxisRef &b) {
  if (a.axis != b.axis || a.size == 1 || b.size == 1)
    return false;
  const auto &[major, minor] = a.preSize < b.preSize ? std::tie(a, b) : std::tie(b, a);
  return minor.preSize % (major.preSize * major.size) != 0;
}

bool overlap(llvm::ArrayRef<AxisRef> a, llvm::ArrayRef<AxisRef> b) {
  return llvm::any_of(a, [&](const AxisRef &x) {
    return llvm::any_of(b, [&](const AxisRef &y) { return overlap(x, y); });
  });
}

int64_t shardCount(llvm::ArrayRef<AxisRef> axes) {
  int64_t n = 1;
  for (const AxisRef &axis : axes)
    n *= axis.size;
  return n;
}

AxisRefs normalized(llvm::ArrayRef<AxisRef> axes) {
  AxisRefs out;
  for (const AxisRef &axis : axes) {
    if (!out.empty() && out.back().axis == axis.axis &&
        out.back().preSize * out.back().size == axis.preSize)
      out.back().size *= axis.size;
    else
      out.push_back(axis);
  }
  return out;
}

int64_t indexAlong(const Mesh &mesh, int64_t device, llvm::ArrayRef<AxisRef> axes) {
  int64_t position = device;
  if (!mesh.deviceIds.empty())
    position = llvm::find(mesh.deviceIds, device) - mesh.deviceIds.begin();
  llvm::SmallVector<int64_t> coordinates(mesh.axes.size());
  for (size_t i = mesh.axes.size(); i-- > 0;) {
    coordinates[i] = position % mesh.axes[i].size;
    position /= mesh.axes[i].size;
  }
  int64_t index = 0;
  for (const AxisRef &axis : axes) {
    int64_t minor = mesh.axes[axis.axis].size / (axis.preSize * axis.size);
    index = index * axis.size + coordinates[axis.axis] / minor % axis.size;
  }
  return index;
}

} // namespace tessera::sharding
