// jnp.roll along an evenly sharded dimension moves only the rows that cross a shard's boundary.
//
//   %a = slice %x [3:4];  %b = slice %x [0:3]                 // x: 4 rows on 4 shards, rolled by 1
//   concatenate %a, %b
// becomes
//   comm.shift(%x) by 1 wrap
//
// and so does its transpose, the sum of two zero-padded slices.
#include "passes/localize/RollPattern.h"

#include "dialects/sdy/SdyOps.h"
#include "passes/localize/Rows.h"

using namespace mlir;

namespace tessera::localize {
namespace {

// Rows [begin, end) of `source` along one dimension, placed at row `at`.
struct Placed {
  Value source;
  int64_t dim = -1, begin = 0, end = 0, at = 0;
};

Value throughReshards(Value value) {
  while (auto reshard = value.getDefiningOp<sdy::ReshardOp>())
    value = reshard.getInput();
  return value;
}

std::optional<Placed> placedSlice(Value value) {
  auto slice = throughReshards(value).getDefiningOp<stablehlo::SliceOp>();
  if (!slice)
    return std::nullopt;
  Placed placed{throughReshards(slice.getOperand())};
  for (auto [d, size] : llvm::enumerate(shapeOf(slice.getOperand()))) {
    if (shapeOf(slice.getResult())[d] == size)
      continue;
    if (placed.dim >= 0 || slice.getStrides()[d] != 1)
      return std::nullopt;
    placed.dim = d, placed.begin = slice.getStartIndices()[d],
    placed.end = slice.getLimitIndices()[d];
  }
  return placed.dim >= 0 ? std::optional(placed) : std::nullopt;
}

std::optional<Placed> paddedSlice(Value value) {
  auto pad = throughReshards(value).getDefiningOp<stablehlo::PadOp>();
  if (!pad || !isNeutral(throughReshards(pad.getPaddingValue()), ReductionKind::Sum))
    return std::nullopt;
  std::optional<Placed> placed = placedSlice(pad.getOperand());
  if (!placed || shapeOf(pad.getResult()) != shapeOf(placed->source))
    return std::nullopt;
  for (int64_t d = 0, rank = shapeOf(pad.getResult()).size(); d < rank; ++d)
    if ((d != placed->dim && (pad.getEdgePaddingLow()[d] || pad.getEdgePaddingHigh()[d])) ||
        pad.getInteriorPadding()[d] || pad.getEdgePaddingLow()[d] < 0 ||
        pad.getEdgePaddingHigh()[d] < 0)
      return std::nullopt;
  placed->at = pad.getEdgePaddingLow()[placed->dim];
  return placed;
}

// Rows [n - shift, n) first, then [0, n - shift): how far rows move, or nothing.
std::optional<int64_t> rollDistance(Placed a, Placed b) {
  if (a.source != b.source || a.dim != b.dim)
    return std::nullopt;
  if (a.at > b.at)
    std::swap(a, b);
  int64_t n = shapeOf(a.source)[a.dim], shift = a.end - a.begin;
  bool rolls = a.at == 0 && a.end == n && b.begin == 0 && b.end == n - shift && b.at == shift;
  return rolls ? std::optional(shift) : std::nullopt;
}

bool rollRows(Localizer &l, Value result, Value source, int64_t dim, int64_t distance) {
  const LocalValue &from = l.local(source);
  const DimLayout &layout = from.layout.dims[dim];
  int64_t shards = sharding::shardCount(layout.axes), tile = layout.tile;
  if (!isSharded(layout) || isUneven(layout, shapeOf(source)[dim]))
    return false;
  int64_t far = distance / tile, rest = distance % tile;
  auto shifted = [&](int64_t begin, int64_t end, int64_t by) {
    Value rows = sliceRows(l, from.value, dim, begin, end);
    if (by % shards == 0)
      return rows;
    by = by % shards;
    return comm::ShiftOp::create(l.b, l.loc, rows, l.axesAttr(layout.axes), by, /*wrap=*/true)
        .getResult(0);
  };
  SmallVector<Value> parts;
  if (rest)
    parts.push_back(shifted(tile - rest, tile, far + 1));
  parts.push_back(shifted(0, tile - rest, far));
  Value rolled = concatRows(l, parts, dim);
  LocalLayout found = from.layout; // binding needs no reference into the table
  l.bind(result, rolled, found);
  return true;
}

} // namespace

bool localizeRoll(Localizer &l, stablehlo::ConcatenateOp concat) {
  if (concat.getInputs().size() != 2)
    return false;
  std::optional<Placed> a = placedSlice(concat.getInputs()[0]),
                        b = placedSlice(concat.getInputs()[1]);
  if (!a || !b || a->dim != int64_t(concat.getDimension()))
    return false;
  b->at = a->end - a->begin;
  std::optional<int64_t> distance = rollDistance(*a, *b);
  return distance && rollRows(l, concat.getResult(), a->source, a->dim, *distance);
}

bool localizeRoll(Localizer &l, stablehlo::AddOp add) {
  std::optional<Placed> a = paddedSlice(add.getLhs()),
                        b = a ? paddedSlice(add.getRhs()) : std::nullopt;
  if (!b)
    return false;
  std::optional<int64_t> distance = rollDistance(*a, *b);
  return distance && rollRows(l, add.getResult(), a->source, a->dim, *distance);
}

} // namespace tessera::localize
