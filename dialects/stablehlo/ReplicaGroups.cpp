#include "dialects/stablehlo/ReplicaGroups.h"

#include "tessera/container.h"

using namespace mlir;

namespace tessera::stablehlo {

bool isReplicaGroups(Attribute groups) {
  if (isa_and_nonnull<ReplicaGroupMeshAxesAttr>(groups))
    return true;
  auto table = dyn_cast_or_null<DenseIntElementsAttr>(groups);
  return table && table.getElementType().isSignlessInteger(64);
}

//===------------------------------- Constraints ------------------------------===//

// -1 when it is larger than any machine.
static int64_t deviceCount(ArrayRef<MeshAxisAttr> axes) {
  int64_t count = 1;
  for (MeshAxisAttr axis : axes)
    if (axis.getSize() <= 0 || count > (int64_t(1) << 32) / axis.getSize())
      return -1;
    else
      count *= axis.getSize();
  return count;
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> error,
                               ArrayRef<MeshAxisAttr> axes, DenseIntElementsAttr devices) {
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis.getSize() <= 0)
      return error() << "axis \"" << axis.getName() << "\" has size " << axis.getSize();
    for (MeshAxisAttr other : axes.take_front(i))
      if (other.getName() == axis.getName())
        return error() << "a mesh has two axes \"" << axis.getName() << "\"";
  }
  int64_t count = deviceCount(axes);
  if (count < 0)
    return error() << "a mesh of more than 2^32 devices";
  if (devices && (devices.getType().getRank() != 1 || devices.getNumElements() != count))
    return error() << "device_ids of type " << devices.getType() << " for " << count << " devices";
  return success();
}

LogicalResult ReplicaGroupMeshAxesAttr::verify(function_ref<InFlightDiagnostic()> error,
                                               Attribute mesh, ArrayAttr axes) {
  if (!isa_and_nonnull<MeshAttr, FlatSymbolRefAttr>(mesh))
    return error() << "'mesh' must be a mesh or the name of one";
  for (Attribute attr : axes) {
    auto ref = dyn_cast<AxisRefAttr>(attr);
    if (!ref)
      return error() << "'axes' must hold #stablehlo.axis_ref attributes, not " << attr;
    auto inlined = dyn_cast<MeshAttr>(mesh);
    if (!inlined)
      continue;
    const auto *axis = llvm::find_if(inlined.getAxes(),
                                     [&](MeshAxisAttr a) { return a.getName() == ref.getName(); });
    if (axis == inlined.getAxes().end())
      return error() << "the mesh has no axis \"" << ref.getName() << "\"";
    SubAxisInfoAttr part = ref.getSubAxisInfo();
    int64_t size = axis->getSize();
    if (part && (part.getPreSize() <= 0 || part.getSize() <= 0 || size % part.getPreSize() ||
                 size / part.getPreSize() % part.getSize()))
      return error() << "(" << part.getPreSize() << ")" << part.getSize()
                     << " is no part of axis \"" << ref.getName() << "\" of size " << size;
  }
  return success();
}

//===---------------------------------- Groups --------------------------------===//

// The part of a mesh that a reference names: its size, and how far apart its devices are.
static std::pair<int64_t, int64_t> partOf(MeshAttr mesh, AxisRefAttr ref) {
  int64_t stride = 1;
  for (MeshAxisAttr axis : llvm::reverse(mesh.getAxes())) {
    if (axis.getName() == ref.getName()) {
      SubAxisInfoAttr part = ref.getSubAxisInfo();
      if (!part)
        return {axis.getSize(), stride};
      return {part.getSize(), stride * (axis.getSize() / (part.getPreSize() * part.getSize()))};
    }
    stride *= axis.getSize();
  }
  return {0, 0};
}

int64_t groupSize(Attribute groups) {
  if (auto table = dyn_cast<DenseIntElementsAttr>(groups)) {
    bool padded =
        llvm::any_of(table.getValues<APInt>(), [](const APInt &d) { return d.isNegative(); });
    return padded || table.getType().getRank() != 2 ? ShapedType::kDynamic
                                                    : table.getType().getDimSize(1);
  }
  auto byAxes = cast<ReplicaGroupMeshAxesAttr>(groups);
  auto mesh = dyn_cast<MeshAttr>(byAxes.getMesh());
  if (!mesh)
    return ShapedType::kDynamic;
  int64_t size = 1;
  for (Attribute ref : byAxes.getAxes())
    size *= partOf(mesh, cast<AxisRefAttr>(ref)).first;
  return size;
}

FailureOr<DenseIntElementsAttr> groupTable(MeshAttr mesh, ArrayRef<AxisRefAttr> axes) {
  int64_t devices = deviceCount(mesh.getAxes()), size = 1;
  if (devices <= 0 || devices > container::kMostDevices)
    return failure();
  auto ids = llvm::to_vector(llvm::seq<int64_t>(0, devices));
  if (mesh.getDeviceIds())
    llvm::copy(mesh.getDeviceIds().getValues<int64_t>(), ids.begin());
  // Offsets of a group's members from its first, the last axis minor.
  SmallVector<int64_t> offsets{0};
  for (AxisRefAttr axis : axes) {
    auto [count, stride] = partOf(mesh, axis);
    if (count <= 0 || devices % (size * count))
      return failure();
    size *= count;
    SmallVector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < count; ++i)
        next.push_back(offset + i * stride);
    offsets = std::move(next);
  }
  SmallVector<int64_t> table;
  SmallVector<bool> seen(devices);
  for (int64_t first = 0; first < devices; ++first) {
    if (seen[first])
      continue;
    for (int64_t offset : offsets) {
      if (first + offset >= devices || seen[first + offset])
        return failure(); // axes that overlap
      seen[first + offset] = true;
      table.push_back(ids[first + offset]);
    }
  }
  auto type =
      RankedTensorType::get({devices / size, size}, IntegerType::get(mesh.getContext(), 64));
  return DenseIntElementsAttr::get(type, table);
}

} // namespace tessera::stablehlo
