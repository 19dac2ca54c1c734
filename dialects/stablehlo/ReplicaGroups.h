// Groups of devices as collectives name them: a table of numbers, or axes of a mesh.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::stablehlo {

/// The devices of a group: kDynamic where groups differ in size or the mesh is elsewhere.
int64_t groupSize(mlir::Attribute groups);

/// The devices that an all_gather or reduce_scatter spans, of an op or its adaptor. With a channel
/// but no global ids a group also spans the partitions, of which the op doesn't know the number.
template <typename Collective> int64_t spannedGroup(Collective op) {
  auto channel = op.getChannelHandle();
  bool spansPartitions = !op.getUseGlobalDeviceIds() && channel && channel->getHandle() > 0;
  return spansPartitions ? mlir::ShapedType::kDynamic : groupSize(op.getReplicaGroupsAttr());
}

/// The table of the groups along `axes` of `mesh`, one row a group, ranks with the last axis minor.
/// Axes [x, y] of the mesh x=2, y=2 give [[0, 1, 2, 3]]; [y] gives [[0, 1], [2, 3]].
mlir::FailureOr<mlir::DenseIntElementsAttr> groupTable(MeshAttr mesh,
                                                       llvm::ArrayRef<AxisRefAttr> axes);

} // namespace tessera::stablehlo
