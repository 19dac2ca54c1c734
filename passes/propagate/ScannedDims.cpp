#include "passes/propagate/ScannedDims.h"

#include "dialects/stablehlo/StablehloOps.h"

using namespace mlir;

namespace tessera {
namespace {

// Of what a loop carries as number `i` and no trip changes: the one dimension that all who read it
// in the body take an element of, each trip another.
std::optional<unsigned> scannedDim(stablehlo::WhileOp loop, unsigned i) {
  Block &body = loop.getBody().front();
  BlockArgument carried = body.getArgument(i);
  if (body.getTerminator()->getOperand(i) != carried || !loop.getCond().getArgument(i).use_empty())
    return std::nullopt;
  std::optional<unsigned> scanned;
  for (Operation *user : carried.getUsers()) {
    if (user == body.getTerminator())
      continue;
    auto slice = dyn_cast<stablehlo::DynamicSliceOp>(user);
    if (!slice || slice.getOperand() != carried)
      return std::nullopt;
    for (auto [d, size] : llvm::enumerate(slice.getSliceSizes())) {
      if (size == cast<RankedTensorType>(carried.getType()).getDimSize(d))
        continue;
      if (size != 1 || (scanned && *scanned != d))
        return std::nullopt;
      scanned = d;
    }
  }
  return scanned;
}

int64_t shardsOf(ArrayRef<sharding::AxisRef> axes) {
  int64_t shards = 1;
  for (const sharding::AxisRef &axis : axes)
    shards *= axis.size;
  return shards;
}

} // namespace

std::optional<sharding::PropagationGraph>
withScansAcross(const ModuleGraph &module, const sharding::PropagationGraph &annotated,
                const sharding::PropagationGraph &decided) {
  std::optional<sharding::PropagationGraph> across;
  for (auto [number, edge] : llvm::enumerate(decided.ops)) {
    auto loop = dyn_cast<stablehlo::WhileOp>(module.opAt(static_cast<int32_t>(number)));
    if (!loop || edge.results.size() != 1)
      continue;
    int32_t carried = edge.results[0];
    auto result = dyn_cast_if_present<OpResult>(module.valueAt(carried));
    if (!result || result.getOwner() != loop || annotated.values[carried].mesh >= 0)
      continue;
    std::optional<unsigned> scanned = scannedDim(loop, result.getResultNumber());
    const sharding::PropagatedValue &value = decided.values[carried];
    if (!scanned || value.sharding.dims[*scanned].axes.empty())
      continue;
    const sharding::AxisRefs &moved = value.sharding.dims[*scanned].axes;
    for (unsigned d = 0; d < value.shape.size(); ++d) {
      sharding::AxisRefs axes = value.sharding.dims[d].axes;
      axes.append(moved.begin(), moved.end());
      if (d == *scanned || value.shape[d] % shardsOf(axes))
        continue;
      if (!across)
        across = annotated;
      sharding::PropagatedValue &inside = across->values[carried];
      inside.mesh = value.mesh;
      inside.sharding.dims[*scanned].closed = true;
      inside.sharding.dims[d].axes = axes;
      llvm::append_values(across->ops[number].blocked, int32_t(*scanned), int32_t(d));
      break;
    }
  }
  return across;
}

} // namespace tessera
