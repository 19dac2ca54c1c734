#include "passes/propagate/ScannedDims.h"

#include "dialects/stablehlo/StablehloOps.h"

using namespace mlir;

namespace tessera {
namespace {

// What may be gathered before the loop: one collective in place of one a trip. Larger arrays stay in
// shards, for the memory's sake.
constexpr int64_t kHeldWhole = int64_t{1} << 20;

// Of what a loop carries as number `i` and no trip changes: the one dimension that all who read it
// in the body take a part of, each trip another.
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
      if (scanned.value_or(d) != d)
        return std::nullopt;
      scanned = d;
    }
  }
  return scanned;
}

// Of what a loop carries as number `i`: the one dimension along which the body puts such an array
// together of single elements, anew each trip.
std::optional<unsigned> stackedDim(stablehlo::WhileOp loop, unsigned i) {
  auto type = cast<RankedTensorType>(loop.getBody().getArgument(i).getType());
  std::optional<unsigned> stacked;
  bool isOne = true;
  loop.getBody().walk([&](stablehlo::ConcatenateOp stack) {
    auto dim = static_cast<unsigned>(stack.getDimension());
    if (stack->getResult(0).getType() != type || stack->getNumOperands() < 2 ||
        static_cast<int64_t>(stack->getNumOperands()) != type.getDimSize(dim))
      return;
    isOne &= stacked.value_or(dim) == dim;
    stacked = dim;
  });
  return isOne ? stacked : std::nullopt;
}

// The axes of dimension `d`, and those of the scanned one behind them.
sharding::AxisRefs axesWith(const sharding::PropagatedValue &value, unsigned d, unsigned scanned) {
  sharding::AxisRefs axes = value.sharding.dims[d].axes;
  llvm::append_range(axes, value.sharding.dims[scanned].axes);
  return axes;
}

// The first other dimension that the axes of the scanned one divide, too.
std::optional<unsigned> dividedDim(const sharding::PropagatedValue &value, unsigned scanned) {
  for (unsigned d = 0; d < value.shape.size(); ++d) {
    int64_t shards = 1;
    for (const sharding::AxisRef &axis : axesWith(value, d, scanned))
      shards *= axis.size;
    if (d != scanned && value.shape[d] % shards == 0)
      return d;
  }
  return std::nullopt;
}

int64_t bytesOf(const sharding::PropagatedValue &value) {
  int64_t bytes = value.elementBytes;
  for (int64_t size : value.shape)
    bytes *= size;
  return bytes;
}

} // namespace

bool hasLoops(const ModuleGraph &module) {
  for (size_t number = 0; number < module.graph.ops.size(); ++number)
    if (isa<stablehlo::WhileOp>(module.opAt(static_cast<int32_t>(number))))
      return true;
  return false;
}

std::optional<ScansAcross> withScansAcross(const ModuleGraph &module,
                                           llvm::ArrayRef<sharding::PropagatedValue> annotated,
                                           llvm::ArrayRef<sharding::PropagatedValue> decided,
                                           bool preferWhole) {
  std::optional<ScansAcross> across;
  for (auto [number, edge] : llvm::enumerate(module.graph.ops)) {
    auto loop = dyn_cast<stablehlo::WhileOp>(module.opAt(static_cast<int32_t>(number)));
    if (!loop || edge.results.size() != 1)
      continue;
    int32_t carried = edge.results[0];
    auto result = dyn_cast_if_present<OpResult>(module.valueAt(carried));
    if (!result || result.getOwner() != loop || annotated[carried].mesh >= 0)
      continue;
    std::optional<unsigned> scanned = scannedDim(loop, result.getResultNumber());
    if (!scanned)
      scanned = stackedDim(loop, result.getResultNumber());
    const sharding::PropagatedValue &value = decided[carried];
    if (!scanned || value.sharding.dims[*scanned].axes.empty())
      continue;
    bool maybeWhole = bytesOf(value) <= kHeldWhole;
    std::optional<unsigned> other =
        maybeWhole && preferWhole ? std::nullopt : dividedDim(value, *scanned);
    if (!other && !maybeWhole)
      continue;
    if (!across)
      across = ScansAcross{annotated, {}};
    sharding::PropagatedValue &inside = across->values[carried];
    inside.mesh = value.mesh;
    inside.sharding.dims[*scanned].closed = true;
    across->blocked.push_back({static_cast<int32_t>(number), static_cast<int32_t>(*scanned)});
    if (!other)
      continue;
    inside.sharding.dims[*other].axes = axesWith(value, *other, *scanned);
    across->blocked.push_back({static_cast<int32_t>(number), static_cast<int32_t>(*other)});
  }
  return across;
}

} // namespace tessera
