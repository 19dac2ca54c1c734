// The steps of a reshard plan (lib/sharding/ReshardSearch.h) as comm ops on local tensors.
//
//   // x = 4, y = 2; %x: [{"x"}, {}], local 3x8
//   sdy.reshard %x <@mesh, [{}, {"y"}]> : tensor<10x8xf32>
// becomes
//   %0 = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<3x8xf32>) -> tensor<12x8xf32>
//   %1 = stablehlo.slice %0 [0:10, 0:8]            // the padding goes where the dimension is whole
//   %2 = comm.slice %1 dim 1 over <@mesh, ["y"=2]> : (tensor<10x8xf32>) -> tensor<10x4xf32>
#include "passes/localize/ExpandReshard.h"

#include "dialects/comm/Collective.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/localize/ExchangeShards.h"
#include "passes/localize/Rows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera::localize {
namespace {

using sharding::ReshardKind;
using sharding::ReshardStep;

// An unsharded dimension is padded (or cut) to `rows` before it is split.
Value fit(Localizer &l, Value value, int64_t dim, int64_t rows) {
  int64_t have = shapeOf(value)[dim];
  return have < rows ? padRows(l, value, dim, 0, rows - have) : sliceRows(l, value, dim, 0, rows);
}

Value expandPermute(Localizer &l, Value value, const ReshardStep &step, const LocalLayout &before) {
  SmallVector<int64_t> pairs;
  for (auto [source, target] : sharding::permutePairs(l.getMesh(), before, step.after, step.axes))
    pairs.append({source, target});
  return comm::PermuteOp::create(l.b, l.loc, value, l.axesAttr(step.axes), pairs).getResult(0);
}

Value reshaped(Localizer &l, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  return type == value.getType() ? value : stablehlo::ReshapeOp::create(l.b, l.loc, type, value);
}

Value expandView(Localizer &l, Value value, const ReshardStep &step) {
  if (!llvm::is_sorted(step.order)) {
    value = reshaped(l, value, step.digits);
    SmallVector<int64_t> shape;
    for (int64_t i : step.order)
      shape.push_back(step.digits[i]);
    value = stablehlo::TransposeOp::create(
        l.b, l.loc, cast<RankedTensorType>(value.getType()).clone(shape), value, step.order);
  }
  return reshaped(l, value, sharding::localShape(step.after));
}

Value expandStep(Localizer &l, Value value, const ReshardStep &step, const LocalLayout &before,
                 ArrayRef<int64_t> globalShape) {
  int64_t shards = sharding::shardCount(step.axes);
  auto kind = comm::toReductionKind(before.reduction);
  if (kind == comm::ReductionKind::Sum && getElementTypeOrSelf(value.getType()).isInteger(1))
    kind = comm::ReductionKind::Or;
  auto fitted = [&] { return fit(l, value, step.dim, step.after.dims[step.dim].tile * shards); };
  switch (step.kind) {
  case ReshardKind::AllGather:
    // A single row lies on the first shard: the next step drops what else a gather would bring.
    if (globalShape[step.dim] == 1 && before.dims[step.dim].tile == 1 &&
        step.after.dims[step.dim].axes.empty())
      return comm::BroadcastOp::create(l.b, l.loc, value, l.axesAttr(step.axes)).getResult(0);
    return comm::AllGatherOp::create(l.b, l.loc, value, l.axesAttr(step.axes), step.dim)
        .getResult(0);
  case ReshardKind::Slice:
    return comm::SliceOp::create(l.b, l.loc, fitted(), l.axesAttr(step.axes), step.dim);
  case ReshardKind::AllToAll:
    return comm::AllToAllOp::create(l.b, l.loc, fitted(), l.axesAttr(step.axes), step.dim,
                                    step.fromDim)
        .getResult(0);
  case ReshardKind::Permute:
    return expandPermute(l, value, step, before);
  case ReshardKind::AllReduce:
    return comm::AllReduceOp::create(l.b, l.loc, value, l.axesAttr(step.axes), kind).getResult(0);
  case ReshardKind::ReduceScatter:
    return comm::ReduceScatterOp::create(l.b, l.loc, fitted(), l.axesAttr(step.axes), step.dim,
                                         kind)
        .getResult(0);
  case ReshardKind::Broadcast:
    return comm::BroadcastOp::create(l.b, l.loc, value, l.axesAttr(step.axes)).getResult(0);
  case ReshardKind::Exchange:
    return reshaped(l, exchangeShards(l, value, *step.exchange), sharding::localShape(step.after));
  case ReshardKind::View:
    return expandView(l, value, step);
  case ReshardKind::Retile: {
    const DimLayout &dim = before.dims[step.dim];
    int64_t tile = step.after.dims[step.dim].tile;
    if (!isSharded(dim))
      return fit(l, value, step.dim, tile);
    return exchangeRows(l, value, step.dim, dim.axes,
                        {globalShape[step.dim], sharding::shardCount(dim.axes), dim.tile},
                        {tile, 0, tile});
  }
  }
  llvm_unreachable("every kind returns");
}

// Rank 0 along `axes` keeps the value.
Value makePartial(Localizer &l, Value value, ArrayRef<sharding::AxisRef> axes, ReductionKind kind) {
  if (isNeutral(value, kind))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  Value first =
      compare(l, myStart(l, axes, 1, 0), scalar(l, 0), stablehlo::ComparisonDirection::EQ);
  return select(l, first, value, absent(l, type, kind));
}

} // namespace

Value expandReshard(Localizer &l, sharding::ReshardPlanner &planner, LocalValue from,
                    ArrayRef<int64_t> globalShape, const LocalLayout &to) {
  SmallVector<int64_t> shape(globalShape);
  LocalLayout goal = to;
  AxisRefs added;
  goal.partial.clear();
  for (const sharding::AxisRef &axis : to.partial)
    (llvm::is_contained(from.layout.partial, axis) ? goal.partial : added).push_back(axis);
  int64_t bytes = std::max<int64_t>(
      1, comm::tensorBytes(RankedTensorType::get({}, getElementTypeOrSelf(from.value.getType()))));
  const sharding::ReshardPlan &plan = planner.plan(globalShape, bytes, from.layout, goal);
  Value value = from.value;
  LocalLayout layout = from.layout;
  for (const ReshardStep &step : plan.steps) {
    value = expandStep(l, value, step, layout, shape);
    layout = step.after;
    if (!step.shape.empty())
      shape = step.shape;
  }
  return added.empty() ? value : makePartial(l, value, added, to.reduction);
}

} // namespace tessera::localize
