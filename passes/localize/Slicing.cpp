// slice, pad, concatenate and reverse. Along a sharded dimension each shard asks for the rows it
// needs.
//
//   stablehlo.slice %x [1:9] : 10 -> 8 on x = 2, tiles 5 -> 4: shard i wants rows [4i + 1, 4i + 5)
//     shard 0 [1 2 3 4], shard 1 [5 6 7 8]: nothing moves but what a shift by one shard brings
#include "passes/localize/Handlers.h"
#include "passes/localize/RollPattern.h"
#include "passes/localize/Rows.h"

using namespace mlir;

namespace tessera::localize {
namespace {

HeldRows heldRows(const DimLayout &dim, int64_t size) {
  return {size, sharding::shardCount(dim.axes), dim.tile};
}

// Dimensions that stay as they are keep their layout; along those in `moved`, operand and result
// are either sharded by the same axes or the operand is made whole and the result's annotation
// decides afterwards.
void matchDimension(Localizer &l, DimLayout &operand, DimLayout &result, int64_t size,
                    int64_t resultSize) {
  if (operand.axes == result.axes)
    return;
  operand = wholeDim(size);
  result = wholeDim(resultSize);
}

// A pad with rows between: local where the shards' starts fall on the same place between two rows.
bool padKeepsPhase(const DimLayout &result, int64_t interior) {
  return !isSharded(result) || result.tile % (interior + 1) == 0;
}

} // namespace

LogicalResult localizeSlice(Localizer &l, Operation *op) {
  auto slice = cast<stablehlo::SliceOp>(op);
  Value operand = slice.getOperand(), result = slice.getResult();
  LocalLayout want = l.local(operand).layout, layout = l.annotatedLike(result, want);
  keepParts(want, layout);
  ArrayRef<int64_t> fromShape = shapeOf(operand), toShape = shapeOf(result);
  SmallVector<int64_t> moved;
  for (int64_t d = 0, rank = fromShape.size(); d < rank; ++d) {
    if (fromShape[d] == toShape[d]) { // all of it
      want.dims[d] = layout.dims[d];
      continue;
    }
    layout.dims[d].tile = l.annotated(result).dims[d].tile;
    matchDimension(l, want.dims[d], layout.dims[d], fromShape[d], toShape[d]);
    moved.push_back(d);
  }
  if (llvm::is_contained(toShape, 0)) { // no rows: nothing to ask for
    layout.partial.clear();
    l.bind(result, zeros(l, l.localType(result, layout)), layout);
    return success();
  }
  Value value = l.get(operand, want);
  for (int64_t d : moved) {
    int64_t start = slice.getStartIndices()[d], stride = slice.getStrides()[d],
            tile = layout.dims[d].tile;
    WantedRows rows{tile * stride, start, (tile - 1) * stride + 1};
    value =
        exchangeRows(l, value, d, want.dims[d].axes, heldRows(want.dims[d], fromShape[d]), rows);
    value = sliceRows(l, value, d, 0, rows.length, stride);
  }
  l.bind(result, value, layout);
  return success();
}

LogicalResult localizePad(Localizer &l, Operation *op) {
  auto pad = cast<stablehlo::PadOp>(op);
  Value operand = pad.getOperand(), result = pad.getResult();
  LocalLayout want = l.local(operand).layout, layout = l.annotatedLike(result, want);
  keepParts(want, layout);
  ArrayRef<int64_t> fromShape = shapeOf(operand), toShape = shapeOf(result);
  SmallVector<int64_t> moved;
  SmallVector<int64_t> low(pad.getEdgePaddingLow()), high(pad.getEdgePaddingHigh()),
      between(pad.getInteriorPadding());
  for (int64_t d = 0, rank = fromShape.size(); d < rank; ++d) {
    if (fromShape[d] <= 1)
      between[d] = 0;
    if (low[d] == 0 && high[d] == 0 && between[d] == 0) {
      want.dims[d] = layout.dims[d];
      continue;
    }
    layout.dims[d].tile = l.annotated(result).dims[d].tile;
    if (!padKeepsPhase(layout.dims[d], between[d]))
      layout.dims[d] = wholeDim(toShape[d]);
    matchDimension(l, want.dims[d], layout.dims[d], fromShape[d], toShape[d]);
    if (isSharded(layout.dims[d]))
      moved.push_back(d);
  }
  LocalLayout scalarLayout = l.whole(pad.getPaddingValue());
  scalarLayout.partial = layout.partial;
  Value value = l.get(operand, want), fill = l.get(pad.getPaddingValue(), scalarLayout);

  // Sharded dimensions: rows of the result from my start, of which some are padding.
  for (int64_t d : moved) {
    int64_t tile = layout.dims[d].tile, step = between[d] + 1, n = fromShape[d];
    // The first row at or before the start, and its place relative to it (in rows of the result,
    // not positive).
    int64_t first = -low[d] >= 0 ? -low[d] / step : -((low[d] + step - 1) / step);
    int64_t phase = first * step + low[d];
    int64_t length = (tile - phase + step - 1) / step;
    value = exchangeRows(l, value, d, want.dims[d].axes, heldRows(want.dims[d], n),
                         {tile / step, first, length});
    Value start = myStart(l, layout.dims[d].axes, tile / step, first);
    Value real = rowsBetween(l, shapeOf(value), d, start, 0, n);
    value = select(l, real, value, splat(l, fill, shapeOf(value)));
    // Now as a local pad: what stands before the start and past the tile is cut off.
    low[d] = phase;
    high[d] = tile - (phase + (length - 1) * step + 1);
  }
  Operation *made = l.copy(op, {value, fill}, l.localType(result, layout));
  auto local = cast<stablehlo::PadOp>(made);
  local.setEdgePaddingLow(low);
  local.setEdgePaddingHigh(high);
  l.bind(result, local.getResult(), layout);
  return success();
}

LogicalResult localizeConcatenate(Localizer &l, Operation *op) {
  auto concat = cast<stablehlo::ConcatenateOp>(op);
  if (localizeRoll(l, concat))
    return success();
  Value result = concat.getResult();
  int64_t dim = concat.getDimension();
  LocalLayout layout = l.annotatedLike(result, l.local(concat.getInputs().front()).layout);
  layout.dims[dim].tile = l.annotated(result).dims[dim].tile;
  AxisRefs annotatedPartial = layout.partial;
  layout.partial.clear();
  Value merged;
  SmallVector<Value> parts;
  int64_t offset = 0, tile = layout.dims[dim].tile;
  for (Value input : concat.getInputs()) {
    int64_t size = shapeOf(input)[dim];
    LocalLayout want = layout;
    const LocalLayout from = l.local(input).layout;
    want.dims[dim] = from.dims[dim].axes == layout.dims[dim].axes ? from.dims[dim] : wholeDim(size);
    want.partial = annotatedPartial;
    Value value = l.get(input, want);
    addAxes(layout.partial, commonAxes(from.partial, annotatedPartial));
    if (!isSharded(layout.dims[dim])) {
      parts.push_back(value);
      continue;
    }
    value = wantedRows(l, value, dim, want.dims[dim], size, layout.dims[dim].axes,
                       {tile, -offset, tile});
    Value start = myStart(l, layout.dims[dim].axes, tile, 0);
    merged = !merged ? value
                     : select(l, rowsBetween(l, shapeOf(value), dim, start, offset, offset + size),
                              value, merged);
    offset += size;
  }
  if (!isSharded(layout.dims[dim]))
    merged = l.copy(op, parts, l.localType(result, layout))->getResult(0);
  l.bind(result, merged, layout);
  return success();
}

// Shard i sends its rows to shard k-1-i, where they come in reverse. The rows past the end are then
// in front.
LogicalResult localizeReverse(Localizer &l, Operation *op) {
  auto reverse = cast<stablehlo::ReverseOp>(op);
  Value operand = reverse.getOperand(), result = reverse.getResult();
  LocalValue from = l.local(operand);
  Value value = from.value;
  for (int64_t d : reverse.getDimensions()) {
    const DimLayout &dim = from.layout.dims[d];
    if (!isSharded(dim))
      continue;
    SmallVector<int64_t> pairs;
    int64_t shards = sharding::shardCount(dim.axes);
    for (int64_t i = 0; i < shards; ++i)
      pairs.append({i, shards - 1 - i});
    value = comm::PermuteOp::create(l.b, l.loc, value, l.axesAttr(dim.axes), pairs).getResult(0);
  }
  value = l.copy(op, value, value.getType())->getResult(0);
  for (int64_t d : reverse.getDimensions()) {
    const DimLayout &dim = from.layout.dims[d];
    HeldRows held = heldRows(dim, shapeOf(operand)[d]);
    held.origin = held.size - held.shards * held.tile;
    if (isSharded(dim) && held.origin != 0)
      value = exchangeRows(l, value, d, dim.axes, held, {dim.tile, 0, dim.tile});
  }
  l.bind(result, value, from.layout);
  return success();
}

} // namespace tessera::localize
