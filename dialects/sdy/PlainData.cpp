#include "dialects/sdy/PlainData.h"

using namespace mlir;

namespace tessera::sdy {

sharding::Mesh toMesh(MeshAttr attr, StringRef name) {
  sharding::Mesh mesh;
  mesh.name = name.str();
  for (MeshAxisAttr axis : attr.getAxes())
    mesh.axes.push_back({axis.getName().str(), axis.getSize()});
  if (attr.isMaximal() || !llvm::is_sorted(attr.getDeviceIds())) // 0, 1, 2, .. is the default
    mesh.deviceIds.assign(attr.getDeviceIds().begin(), attr.getDeviceIds().end());
  return mesh;
}

sharding::Mesh toMesh(MeshOp op) { return toMesh(op.getMesh(), op.getSymName()); }

sharding::AxisRef toAxisRef(AxisRefAttr attr, const sharding::Mesh &mesh) {
  int32_t axis = mesh.axisIndex(attr.getName());
  assert(axis >= 0 && "verified shardings name axes of their mesh");
  if (SubAxisInfoAttr part = attr.getSubAxisInfo())
    return {axis, part.getPreSize(), part.getSize()};
  return sharding::wholeAxis(mesh, axis);
}

AxisRefAttr toAttr(MLIRContext *context, const sharding::Mesh &mesh,
                   const sharding::AxisRef &axis) {
  SubAxisInfoAttr part;
  if (!isWhole(mesh, axis))
    part = SubAxisInfoAttr::get(context, axis.preSize, axis.size);
  return AxisRefAttr::get(context, mesh.axes[axis.axis].name, part);
}

static sharding::AxisRefs toAxisRefs(ArrayRef<AxisRefAttr> attrs, const sharding::Mesh &mesh) {
  sharding::AxisRefs axes;
  for (AxisRefAttr attr : attrs)
    axes.push_back(toAxisRef(attr, mesh));
  return axes;
}

sharding::ReductionKind toKind(ReductionOp op) {
  switch (op) {
  case ReductionOp::SUM:
    return sharding::ReductionKind::Sum;
  case ReductionOp::MAX:
    return sharding::ReductionKind::Max;
  case ReductionOp::MIN:
    return sharding::ReductionKind::Min;
  }
  llvm_unreachable("every operation returns");
}

sharding::TensorSharding toSharding(TensorShardingAttr attr, const sharding::Mesh &mesh) {
  sharding::TensorSharding sharding;
  for (DimensionShardingAttr dim : attr.getDimShardings())
    sharding.dims.push_back(
        {toAxisRefs(dim.getAxes(), mesh), dim.getIsClosed(), dim.getPriority()});
  sharding.replicated = toAxisRefs(attr.getReplicatedAxes(), mesh);
  sharding.unreduced = toAxisRefs(attr.getUnreducedAxes(), mesh);
  return sharding;
}

TensorShardingAttr toAttr(MLIRContext *context, const sharding::Mesh &mesh,
                          const sharding::TensorSharding &sharding) {
  auto axesOf = [&](ArrayRef<sharding::AxisRef> axes) {
    SmallVector<AxisRefAttr> attrs;
    for (const sharding::AxisRef &axis : sharding::normalized(axes))
      attrs.push_back(toAttr(context, mesh, axis));
    return attrs;
  };
  auto sorted = [&](sharding::AxisRefs axes) {
    llvm::sort(axes);
    return axesOf(axes);
  };
  SmallVector<DimensionShardingAttr> dims;
  bool isOfOneDevice = mesh.axes.empty() && !mesh.deviceIds.empty(); // which shards no dimension
  for (const sharding::DimSharding &dim :
       ArrayRef(sharding.dims).take_front(isOfOneDevice ? 0 : sharding.dims.size())) {
    auto priority = dim.closed && dim.axes.empty() ? std::nullopt : dim.priority;
    dims.push_back(DimensionShardingAttr::get(context, axesOf(dim.axes), dim.closed, priority));
  }
  return TensorShardingAttr::get(context, mesh.name, dims, sorted(sharding.replicated),
                                 sorted(sharding.unreduced));
}

TensorShardingAttr insideManual(TensorShardingAttr sharding, ManualAxesAttr manual) {
  auto keep = [&](ArrayRef<AxisRefAttr> axes) {
    SmallVector<AxisRefAttr> kept;
    for (AxisRefAttr axis : axes)
      if (llvm::none_of(manual.getValue(),
                        [&](StringAttr name) { return name.getValue() == axis.getName(); }))
        kept.push_back(axis);
    return kept;
  };
  MLIRContext *context = sharding.getContext();
  SmallVector<DimensionShardingAttr> dims;
  for (DimensionShardingAttr dim : sharding.getDimShardings()) {
    auto axes = keep(dim.getAxes());
    auto priority = dim.getIsClosed() && axes.empty() ? std::nullopt : dim.getPriority();
    dims.push_back(DimensionShardingAttr::get(context, axes, dim.getIsClosed(), priority));
  }
  return sharding.withAxes(dims, keep(sharding.getReplicatedAxes()),
                           keep(sharding.getUnreducedAxes()));
}

MeshTable::MeshTable(ModuleOp module) {
  for (MeshOp op : module.getOps<MeshOp>()) {
    byName[op.getSymName()] = meshes.size();
    if (first < 0 && !op.getMesh().getAxes().empty())
      first = meshes.size();
    meshes.push_back(toMesh(op));
  }
}

const sharding::Mesh *MeshTable::lookup(StringRef name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &meshes[it->second];
}

const sharding::Mesh *MeshTable::lookup(TensorShardingAttr sharding) const {
  return lookup(sharding.getMeshName());
}

} // namespace tessera::sdy
