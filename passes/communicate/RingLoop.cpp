#include "passes/communicate/RingLoop.h"

#include "dialects/tessera/Marks.h"

using namespace mlir;

namespace tessera::communicate {

Ring::Ring(comm::AxesAttr axes, int64_t tile, bool bothWays) : axes(axes), tile(tile) {
  int64_t first = bothWays ? (tile + 1) / 2 : tile;
  lanes.push_back({1, 0, first});
  if (first < tile)
    lanes.push_back({-1, first, tile - first});
}

namespace {

// Where the tile begins that comes after the one at `start`, on its lane.
Value nextStart(RowOps &ops, const Ring &ring, const Lane &lane, Value start) {
  int64_t last = (ring.shards() - 1) * ring.tile;
  int64_t end = lane.direction > 0 ? 0 : last;
  return ops.select(ops.isEqual(start, end), ops.scalar(last - end),
                    ops.plus(start, -lane.direction * ring.tile));
}

Value shifted(RowOps &ops, const Ring &ring, const Lane &lane, Value value) {
  return comm::ShiftOp::create(ops.b, ops.loc, value, ring.axes, lane.direction, /*wrap=*/true)
      ->getResult(0);
}

// For each lane where its tile begins at first, and what the carried values hold of it.
SmallVector<Value> ownStarts(RowOps &ops, const Ring &ring) {
  Value rank = comm::AxisIndexOp::create(ops.b, ops.loc, ring.axes);
  return SmallVector<Value>(ring.lanes.size(), ops.binary("multiply", rank, ops.scalar(ring.tile)));
}

} // namespace

SmallVector<Value> gatherAround(RowOps &ops, const Ring &ring, Value shard, int64_t dim,
                                ValueRange taken, Take take) {
  size_t count = ring.lanes.size();
  SmallVector<Value> carried = ownStarts(ops, ring);
  for (const Lane &lane : ring.lanes)
    carried.push_back(ops.rowsBetween(shard, dim, lane.offset, lane.offset + lane.rows));
  llvm::append_range(carried, taken);
  auto takeAll = [&](RowOps &at, ValueRange values) {
    SmallVector<Value> all(values.drop_front(2 * count));
    for (auto [i, lane] : llvm::enumerate(ring.lanes))
      all = take(at, values[count + i], at.plus(values[i], lane.offset), all);
    return all;
  };
  SmallVector<Value> last =
      ops.loop(ring.shards() - 1, carried, [&](RowOps &at, ValueRange values) {
        SmallVector<Value> next;
        for (auto [i, lane] : llvm::enumerate(ring.lanes))
          next.push_back(nextStart(at, ring, lane, values[i]));
        for (auto [i, lane] : llvm::enumerate(ring.lanes))
          next.push_back(shifted(at, ring, lane, values[count + i]));
        next.append(takeAll(at, values));
        return next;
      });
  setOverlap(last.front().getDefiningOp(), cost::Overlap::On); // what it is for
  return takeAll(ops, last);
}

Value scatterAround(RowOps &ops, const Ring &ring, int64_t dim, Part part) {
  size_t count = ring.lanes.size();
  auto partAt = [&](RowOps &at, const Lane &lane, Value start) {
    return part(at, at.plus(start, lane.offset), lane.rows);
  };
  SmallVector<Value> carried, terms, sums;
  for (auto [lane, start] : llvm::zip_equal(ring.lanes, ownStarts(ops, ring))) {
    carried.push_back(nextStart(ops, ring, lane, start));
    terms.push_back(partAt(ops, lane, carried.back()));
    sums.push_back(ops.zeros(typeOf(terms.back())));
  }
  carried.append(terms);
  carried.append(sums);
  SmallVector<Value> last =
      ops.loop(ring.shards() - 1, carried, [&](RowOps &at, ValueRange values) {
        SmallVector<Value> next, parts;
        for (auto [i, lane] : llvm::enumerate(ring.lanes))
          next.push_back(nextStart(at, ring, lane, values[i]));
        for (auto [i, lane] : llvm::enumerate(ring.lanes))
          next.push_back(partAt(at, lane, next[i]));
        for (auto [i, lane] : llvm::enumerate(ring.lanes))
          next.push_back(
              shifted(at, ring, lane, at.binary("add", values[2 * count + i], values[count + i])));
        return next;
      });
  setOverlap(last.front().getDefiningOp(), cost::Overlap::On);
  SmallVector<Value> tiles;
  for (size_t i = 0; i < count; ++i)
    tiles.push_back(ops.binary("add", last[2 * count + i], last[count + i]));
  if (count == 1)
    return tiles.front();
  SmallVector<int64_t> shape(shapeOf(tiles[0]));
  shape[dim] = ring.tile;
  return stablehlo::ConcatenateOp::create(ops.b, ops.loc, typeOf(tiles[0]).clone(shape), tiles,
                                          dim);
}

Value scatterInChunks(RowOps &ops, comm::ReduceScatterOp scatter, int64_t along, int64_t chunks,
                      Part part) {
  RankedTensorType type = typeOf(scatter.getResult(0));
  int64_t rows = type.getDimSize(along) / chunks;
  auto scattered = [&](RowOps &at, Value term) {
    return comm::ReduceScatterOp::create(at.b, at.loc, term, scatter.getAxes(),
                                         static_cast<int64_t>(scatter.getDim()),
                                         scatter.getReduction())
        .getResult(0);
  };
  Value start = ops.scalar(0), first = part(ops, start, rows);
  if (chunks == 2) {
    Value second = part(ops, ops.scalar(rows), rows);
    return stablehlo::ConcatenateOp::create(
        ops.b, ops.loc, type, ValueRange{scattered(ops, first), scattered(ops, second)}, along);
  }
  SmallVector<Value> carried{start, first, ops.zeros(type)};
  SmallVector<Value> last = ops.loop(chunks - 1, carried, [&](RowOps &at, ValueRange values) {
    Value next = at.plus(values[0], rows);
    return SmallVector<Value>{next, part(at, next, rows),
                              at.withRowsAt(values[2], scattered(at, values[1]), along, values[0])};
  });
  setOverlap(last.front().getDefiningOp(), cost::Overlap::On);
  return ops.withRowsAt(last[2], scattered(ops, last[1]), along, last[0]);
}

} // namespace tessera::communicate
