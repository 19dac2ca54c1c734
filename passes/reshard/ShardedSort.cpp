#include "passes/reshard/ShardedSort.h"

#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace tessera {

using namespace mlir;
using Direction = stablehlo::ComparisonDirection;

int64_t ShardedSort::rowBytes() const {
  int64_t bytes = 0;
  for (Value operand : op->getOperands())
    bytes += elementBytes(operand);
  return bytes;
}

std::optional<ShardedSort> shardedSort(stablehlo::SortOp op, const ValueShardings &shardings) {
  ShardedSort sort{op, int64_t(op.getDimension()), 0, 1, 0, {}, {}};
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  if (sort.dim < 0)
    sort.dim += int64_t(shape.size());
  auto *first = llvm::find_if(op->getOpOperands(), [](OpOperand &o) { return !isFree(o.get()); });
  if (first == op->getOpOperands().end() || llvm::is_contained(shape, 0))
    return std::nullopt;
  sort.place = shardings.of(first->get());
  sort.size = shape[sort.dim];
  sort.axes = sort.place.dims[sort.dim].axes;
  sort.shards = sharding::shardCount(sort.axes);
  sort.tile = llvm::divideCeil(sort.size, sort.shards);
  if (sort.shards < 2 || !sort.place.unreduced.empty())
    return std::nullopt;
  return sort;
}

SortCost::SortCost(const ShardedSort &sort, const ValueShardings &shardings,
                   sharding::ReshardPlanner &planner)
    : sort(sort), shardings(shardings), planner(planner) {
  sharding::LocalLayout layout = sharding::canonicalLayout(sort.shape(), sort.place);
  for (auto [d, tile] : llvm::enumerate(sharding::localShape(layout)))
    if (int64_t(d) != sort.dim)
      lines *= tile;
  for (Value operand : sort.op->getOperands())
    if (!isFree(operand))
      moved += movedBytes(shapeOf(operand), elementBytes(operand), shardings.of(operand),
                          sort.place, planner);
}

void SortCost::collective(cost::CollectiveKind kind, int64_t rows, int64_t bytes) {
  double all = double(lines * rows * bytes);
  moved.seconds +=
      cost::collectiveSeconds(planner.getTopology(), planner.getMesh(), kind, all, sort.axes);
  moved.wireBytes += cost::wireBytes(kind, all, sort.shards);
}

// Of numbers that go with the rows little is seen: comparisons take the time.
static double sortingSeconds(const sharding::ReshardPlanner &planner, double bytes, int64_t rows) {
  return cost::computeSeconds(planner.getTopology(), planner.getMesh(), 0,
                              2 * bytes * std::log2(double(std::max<int64_t>(rows, 2))));
}

void SortCost::sorting(int64_t rows, int64_t count) {
  moved.seconds += sortingSeconds(planner, double(lines * rows * count * sort.rowBytes()), rows);
}

MovedBytes sortByRule(const ShardedSort &sort, const ValueShardings &shardings,
                      sharding::ReshardPlanner &planner) {
  CostByRule cost = cheapestByRule(sort.op, shardings, planner);
  // Its results are written once in it already.
  cost.seconds +=
      sortingSeconds(planner, cost.resultBytes, sort.size) -
      cost::computeSeconds(planner.getTopology(), planner.getMesh(), 0, 2 * cost.resultBytes);
  return cost;
}

void SortCost::resultsMoved() {
  for (Value result : sort.op->getResults())
    moved += movedBytes(shapeOf(result), elementBytes(result), sort.place, shardings.of(result),
                        planner);
}

// An operand that lies where the sort is computed.
static Value placedOperand(const ShardedSort &sort, const ValueShardings &shardings) {
  return *llvm::find_if(sort.op->getOperands(), [&](Value operand) {
    return sharding::sameAxes(shardings.of(operand), sort.place);
  });
}

SortedShards::SortedShards(const ShardedSort &sort, const ValueShardings &shardings)
    : SplitDimension(shardings, sort.op, placedOperand(sort, shardings), sort.dim), sort(sort),
      valueShardings(shardings) {}

IntegerType SortedShards::integer(int64_t rows) const {
  return IntegerType::get(sort.op->getContext(), sort.shards * rows < (int64_t(1) << 30) ? 32 : 64);
}

Value SortedShards::isPast(Value shard, Value row) {
  Value place = binary<stablehlo::AddOp>(binary<stablehlo::MulOp>(shard, sort.tile), row);
  Value end = compare(place, number(place, sort.size), Direction::GE);
  Value beyond = compare(row, number(row, sort.tile), Direction::GE);
  return binary<stablehlo::OrOp>(end, beyond);
}

Value SortedShards::before(OpBuilder &b, ValueRange x, ValueRange y) const {
  return comesBefore(b, sort.op, x, y);
}

Value SortedShards::beforeUnlessPast(OpBuilder &b, ValueRange x, ValueRange y) const {
  Value exists = stablehlo::NotOp::create(b, loc, x.back());
  Value only = stablehlo::AndOp::create(b, loc, exists, y.back());
  Value any = stablehlo::OrOp::create(b, loc, x.back(), y.back());
  return stablehlo::SelectOp::create(b, loc, any, only, before(b, x, y));
}

SplitDimension::Values SortedShards::locally(int64_t rows) {
  Values values;
  int64_t all = sort.shards * sort.tile;
  for (Value operand : sort.op->getOperands()) {
    if (!sharding::sameAxes(valueShardings.of(operand), sort.place))
      operand = move(operand, {sort.axes});
    Value shards =
        reshaped(padded(operand, 0, 0, all - sort.size), {sort.shards, sort.tile}, {sort.axes, {}});
    values.push_back(padded(shards, 1, 0, rows - sort.tile));
  }
  if (!isPadded(rows))
    return sorted(values, 1,
                  [&](OpBuilder &b, ValueRange x, ValueRange y) { return before(b, x, y); });
  Value shard = positions(values[0], 0, integer(rows));
  values.push_back(isPast(shard, positions(values[0], 1, integer(rows))));
  values = sorted(values, 1, [&](OpBuilder &b, ValueRange x, ValueRange y) {
    return beforeUnlessPast(b, x, y);
  });
  values.pop_back();
  return values;
}

void replaceSharded(OpBuilder &b, Value result, Value value, const ValueShardings &shardings) {
  sharding::TensorSharding wanted = shardings.of(result);
  if (!sharding::sameAxes(shardings.of(value), wanted))
    value =
        sdy::ReshardOp::create(b, value.getLoc(), value.getType(), value, shardings.attr(wanted));
  result.replaceAllUsesWith(value);
}

} // namespace tessera
