// Halo exchange: every movement of rows along one sharded dimension.
//
//   // 8 rows on 4 shards; shard i wants rows [2i - 1, 2i + 3)
//   %low = comm.shift(rows [1, 2) of %x) by 1      %high = comm.shift(rows [0, 1) of %x) by -1
//   concatenate %low, %x, %high
//
// Rows that do not exist (before the first, past the last) come as zeros or garbage: who can see
// them masks them.
#include "passes/localize/Rows.h"

using namespace mlir;

namespace tessera::localize {

namespace {

// [low] zeros and pieces side by side, as the window has them.
Value window(Localizer &l, Value value, int64_t dim, ArrayRef<sharding::AxisRef> axes,
             const HeldRows &held, const sharding::RowExchange &plan) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> parts;
  int64_t at = plan.begin;
  auto fill = [&](int64_t upto) {
    if (upto <= at)
      return;
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = upto - at;
    parts.push_back(zeros(l, type.clone(shape)));
    at = upto;
  };
  for (const sharding::RowPiece &piece : plan.pieces) {
    fill(piece.distance * held.tile + piece.begin);
    Value rows = sliceRows(l, value, dim, piece.begin, piece.end);
    if (piece.distance != 0)
      rows =
          comm::ShiftOp::create(l.b, l.loc, rows, l.axesAttr(axes), -piece.distance, /*wrap=*/false)
              .getResult(0);
    parts.push_back(rows);
    at = piece.distance * held.tile + piece.end;
  }
  fill(plan.end);
  if (parts.empty()) // no rows are wanted
    return sliceRows(l, value, dim, 0, 0);
  return concatRows(l, parts, dim);
}

// My rows of a dimension that I hold all of, row r at r - origin; with room at the ends so that
// nobody's start is clamped.
Value rowsOfAll(Localizer &l, Value all, int64_t dim, ArrayRef<sharding::AxisRef> axes,
                int64_t origin, const WantedRows &wanted) {
  int64_t first = wanted.offset - origin,
          last = first + (sharding::shardCount(axes) - 1) * wanted.step;
  int64_t low = std::max<int64_t>(0, -std::min(first, last));
  int64_t high = std::max<int64_t>(0, std::max(first, last) + wanted.length - shapeOf(all)[dim]);
  all = padRows(l, all, dim, low, high);
  return dynamicRows(l, all, dim, myStart(l, axes, wanted.step, first + low), wanted.length);
}

} // namespace

Value exchangeRows(Localizer &l, Value value, int64_t dim, ArrayRef<sharding::AxisRef> axes,
                   const HeldRows &held, const WantedRows &wanted) {
  sharding::RowExchange plan = sharding::planExchange(held, wanted);
  if (plan.rowsSent() <= (held.shards - 1) * held.tile) {
    Value rows = window(l, value, dim, axes, held, plan);
    if (plan.end - plan.begin == wanted.length)
      return rows;
    return dynamicRows(l, rows, dim, myStart(l, axes, plan.drift, plan.start - plan.begin),
                       wanted.length);
  }
  Value all = comm::AllGatherOp::create(l.b, l.loc, value, l.axesAttr(axes), dim).getResult(0);
  return rowsOfAll(l, all, dim, axes, held.origin, {wanted.step, wanted.offset, wanted.length});
}

Value wantedRows(Localizer &l, Value value, int64_t dim, const DimLayout &held, int64_t size,
                 ArrayRef<sharding::AxisRef> axes, const WantedRows &wanted) {
  if (held.axes.empty() && !axes.empty())
    return rowsOfAll(l, value, dim, axes, 0, wanted);
  return exchangeRows(l, value, dim, axes, {size, sharding::shardCount(held.axes), held.tile},
                      wanted);
}

} // namespace tessera::localize
