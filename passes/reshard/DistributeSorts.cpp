// Sorts along a sharded dimension that stays sharded: a column sort (lib/sharding/ColumnSort.h)
// moves each element twice. Passes.td shows an example.
#include "lib/sharding/ColumnSort.h"
#include "passes/OpsWithin.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/ShardedSort.h"

namespace tessera {
#define GEN_PASS_DEF_DISTRIBUTESORTS
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;
using sharding::ColumnSort;
using Values = SplitDimension::Values;
using Direction = stablehlo::ComparisonDirection;

// The type in which numbers of elements of one part travel.
IntegerType countType(const ColumnSort &plan, IntegerType integer) {
  return plan.part() < (int64_t(1) << 15) ? IntegerType::get(integer.getContext(), 16) : integer;
}

MovedBytes costOf(const ShardedSort &sort, const ColumnSort &plan, const ValueShardings &shardings,
                  sharding::ReshardPlanner &planner) {
  using Kind = cost::CollectiveKind;
  IntegerType integer = SortedShards(sort, shardings).integer(plan.rows);
  int64_t bytes = sort.rowBytes(), numbered = bytes + integer.getWidth() / 8;
  SortCost cost(sort, shardings, planner);
  cost.collective(Kind::AllToAll, plan.rows, bytes);
  cost.collective(Kind::AllToAll, plan.rows, bytes);
  for (int i = 0; i < 2; ++i) {
    cost.collective(Kind::AllToAll, plan.shards * plan.shards,
                    countType(plan, integer).getWidth() / 8);
    cost.collective(Kind::Permute, plan.crossing, numbered);
  }
  if (int64_t moved = (plan.shards - 1) * (plan.rows - plan.tile))
    cost.collective(Kind::Permute, moved, bytes);
  cost.sorting(plan.rows, 3);
  cost.sorting(plan.part(), plan.shards);
  cost.sorting(plan.boundary + plan.crossing, 2);
  cost.resultsMoved();
  return cost.moved;
}

class Columns : public SortedShards {
public:
  Columns(const ShardedSort &sort, const ColumnSort &plan, const ValueShardings &shardings)
      : SortedShards(sort, shardings), sort(sort), plan(plan),
        integer(SortedShards::integer(plan.rows)) {}

  // The sorted operands, as the sort has its own.
  Values sortedAll();

private:
  Values dealt(Values values);     // {p, rows} as sorted locally -> sorted again, with numbers
  Values collected(Values values); // -> each shard has its own rows but those about its boundaries
  Values settled(Values values);   // -> those, too; without numbers

  // The numbers of elements that are `row` of those that `shard` had: past all others for those
  // that do not exist.
  Value numbered(Value shard, Value row);
  // For values {p, parts, t} with numbers: where in its part the elements of each shard begin,
  // and how many of them earlier parts have; {p, parts, p} each.
  std::pair<Value, Value> countsByShard(Value numbers);

  // The sort's order, equal elements by number: by that alone for those that don't exist.
  Value inOrder(OpBuilder &b, ValueRange x, ValueRange y, bool equalsInOrder);
  Value lower(OpBuilder &b, Value x, Value y) {
    return stablehlo::CompareOp::create(b, loc, x, y, Direction::LT,
                                        stablehlo::ComparisonType::SIGNED);
  }

  const ShardedSort &sort;
  const ColumnSort &plan;
  IntegerType integer;
};

Value Columns::inOrder(OpBuilder &b, ValueRange x, ValueRange y, bool equalsInOrder) {
  Value first = before(b, x, y), less = lower(b, x.back(), y.back());
  if (!equalsInOrder) {
    Value tie = stablehlo::NotOp::create(b, loc, before(b, y, x));
    tie = stablehlo::AndOp::create(b, loc, tie, less);
    first = stablehlo::OrOp::create(b, loc, first, tie);
  }
  if (!plan.padded())
    return first;
  auto end = DenseElementsAttr::get(cast<RankedTensorType>(x.back().getType()),
                                    IntegerAttr::get(integer, plan.shards * plan.rows));
  Value later = stablehlo::MaxOp::create(b, loc, x.back(), y.back());
  Value exist = lower(b, later, stablehlo::ConstantOp::create(b, loc, end));
  return stablehlo::SelectOp::create(b, loc, exist, first, less);
}

Value Columns::numbered(Value shard, Value row) {
  Value all = binary<stablehlo::AddOp>(binary<stablehlo::MulOp>(shard, plan.rows), row);
  if (!plan.padded())
    return all;
  Value past = isPast(shard, row);
  return select(past, binary<stablehlo::AddOp>(all, plan.shards * plan.rows), all);
}

Values Columns::dealt(Values values) {
  int64_t p = plan.shards, t = plan.part();
  for (Value &value : values) {
    value = reshaped(value, {p, t, p}, {sort.axes, {}, {}});
    value = transposed(move(value, {{}, {}, sort.axes}), {2, 0, 1}); // column, shard, row
  }
  Value column = positions(values[0], 0, integer), shard = positions(values[0], 1, integer);
  Value row = binary<stablehlo::MulOp>(positions(values[0], 2, integer), p);
  values.push_back(numbered(shard, binary<stablehlo::AddOp>(row, column)));
  for (Value &value : values)
    value = reshaped(value, {p, plan.rows}, {sort.axes, {}});
  // Numbers ascend already: a stable sort leaves equal elements in their order.
  return sorted(values, 1, [&](OpBuilder &b, ValueRange x, ValueRange y) {
    return inOrder(b, x, y, /*equalsInOrder=*/true);
  });
}

std::pair<Value, Value> Columns::countsByShard(Value numbers) {
  int64_t p = plan.shards;
  Value shard = repeated(binary<stablehlo::DivOp>(numbers, plan.rows), 3, p);
  Value same = compare(shard, positions(shard, 3, integer), Direction::EQ);
  Value counts = summed(converted(same, integer), 2);
  return {summedBefore(counts, 2), summedBefore(counts, 1)};
}

Values Columns::collected(Values values) {
  int64_t p = plan.shards, t = plan.part();
  if (plan.padded()) // in the order of shards, elements that do not exist too
    values.back() = binary<stablehlo::RemOp>(values.back(), p * plan.rows);
  for (Value &value : values)
    value = reshaped(value, {p, p, t}, {sort.axes, {}, {}});
  values = sorted(values, 2, [&](OpBuilder &b, ValueRange x, ValueRange y) {
    return lower(b, x.back(), y.back());
  });
  auto [begins, earlier] = countsByShard(values.back());
  values.back() = converted(begins, countType(plan, integer));
  values.push_back(converted(earlier, countType(plan, integer)));
  for (Value &value : values)
    value = transposed(move(value, {{}, sort.axes, {}}), {1, 0, 2}); // shard, column, row
  earlier = repeated(converted(values.pop_back_val(), integer), 2, t);
  begins = repeated(converted(values.pop_back_val(), integer), 2, t);
  // Row u of a part is of the last shard whose rows begin at u or before: the sum over shards of
  // how much the number then grows.
  Value from = positions(begins, 3, integer), u = positions(begins, 2, integer);
  Value base = binary<stablehlo::AddOp>(
      binary<stablehlo::MulOp>(from, plan.rows),
      binary<stablehlo::MulOp>(binary<stablehlo::SubtractOp>(earlier, begins), p));
  Value growth = binary<stablehlo::SubtractOp>(base, padded(sliced(base, 3, 0, p - 1), 3, 1, 0));
  Value begun = compare(begins, u, Direction::LE);
  Value numbers = summed(select(begun, growth, number(growth, 0)), 3);
  numbers = binary<stablehlo::AddOp>(numbers,
                                     binary<stablehlo::MulOp>(positions(numbers, 2, integer), p));
  numbers = binary<stablehlo::AddOp>(numbers, positions(numbers, 1, integer));
  if (plan.padded())
    numbers = numbered(binary<stablehlo::DivOp>(numbers, plan.rows),
                       binary<stablehlo::RemOp>(numbers, plan.rows));
  values.push_back(numbers);
  for (Value &value : values)
    value = reshaped(value, {p, plan.rows}, {sort.axes, {}});
  return sorted(values, 1, [&](OpBuilder &b, ValueRange x, ValueRange y) {
    return inOrder(b, x, y, /*equalsInOrder=*/false);
  });
}

Values Columns::settled(Values values) {
  int64_t p = plan.shards, rows = plan.rows, boundary = plan.boundary, crossing = plan.crossing;
  Values first, last, below, above; // my rows and a neighbour's about my last boundary, my first
  for (Value value : values) {
    first.push_back(sliced(value, 1, 0, boundary));
    last.push_back(sliced(value, 1, rows - boundary, rows));
    Value next = padded(sliced(sliced(value, 1, 0, crossing), 0, 1, p), 0, 0, 1);
    Value previous = padded(sliced(sliced(value, 1, rows - crossing, rows), 0, 0, p - 1), 0, 1, 0);
    below.push_back(joined({last.back(), next}, 1));
    above.push_back(joined({previous, first.back()}, 1));
  }
  auto order = [&](OpBuilder &b, ValueRange x, ValueRange y) {
    return inOrder(b, x, y, /*equalsInOrder=*/false);
  };
  below = sorted(below, 1, order), above = sorted(above, 1, order);
  values.pop_back();
  for (auto [i, value] : llvm::enumerate(values)) {
    Value lowest = sliced(above[i], 1, crossing, crossing + boundary);
    Value highest = sliced(below[i], 1, 0, boundary);
    Value shard = positions(lowest, 0, integer);
    lowest = select(compare(shard, number(shard, 0), Direction::EQ), first[i], lowest);
    highest = select(compare(shard, number(shard, p - 1), Direction::EQ), last[i], highest);
    value = joined({lowest, sliced(value, 1, boundary, rows - boundary), highest}, 1);
  }
  return values;
}

Values Columns::sortedAll() {
  Values values = settled(collected(dealt(locally(plan.rows))));
  for (Value &value : values)
    value = sliced(reshaped(value, {plan.shards * plan.rows}, {sort.axes}), 0, 0, sort.size);
  return values;
}

struct DistributeSorts : impl::DistributeSortsBase<DistributeSorts> {
  void runOnOperation() override {
    forEachBody(getOperation(), [](Block &body, ValueShardings &shardings,
                                   sharding::ReshardPlanner &planner) {
      for (stablehlo::SortOp op : opsWithin<stablehlo::SortOp>(body)) {
        std::optional<ShardedSort> sort = shardedSort(op, shardings);
        std::optional<ColumnSort> plan =
            sort ? sharding::planColumnSort(sort->size, sort->shards) : std::nullopt;
        if (!plan)
          continue;
        MovedBytes cost = costOf(*sort, *plan, shardings, planner);
        MovedBytes byRule = sortByRule(*sort, shardings, planner);
        if (cost.seconds >= byRule.seconds || cost.wireBytes > byRule.wireBytes)
          continue;
        OpBuilder b(op);
        for (auto [result, value] :
             llvm::zip_equal(op->getResults(), Columns(*sort, *plan, shardings).sortedAll()))
          replaceSharded(b, result, value, shardings);
        op->erase();
      }
    });
  }
};

} // namespace
} // namespace tessera
