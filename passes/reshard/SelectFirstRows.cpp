// The first rows of a sort along a sharded dimension (top_k, by import) come from the first rows of
// each shard: only those are gathered. Passes.td shows an example.
#include "passes/OpsWithin.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/ShardedSort.h"

namespace tessera {
#define GEN_PASS_DEF_SELECTFIRSTROWS
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;

// How many rows the users of the sort take, when each takes some first ones; else none.
std::optional<int64_t> firstRows(const ShardedSort &sort) {
  int64_t most = 0;
  for (Operation *user : sort.op->getUsers()) {
    auto slice = dyn_cast<stablehlo::SliceOp>(user);
    if (!slice)
      return std::nullopt;
    for (auto [d, size] : llvm::enumerate(shapeOf(slice.getOperand()))) {
      bool sorted = int64_t(d) == sort.dim;
      int64_t limit = slice.getLimitIndices()[d];
      if (slice.getStartIndices()[d] != 0 || slice.getStrides()[d] != 1 ||
          (!sorted && limit != size))
        return std::nullopt;
      if (sorted)
        most = std::max(most, limit);
    }
  }
  return most > 0 && most < sort.tile ? std::optional(most) : std::nullopt;
}

MovedBytes costOf(const ShardedSort &sort, int64_t rows, const ValueShardings &shardings,
                  sharding::ReshardPlanner &planner) {
  SortCost cost(sort, shardings, planner);
  int64_t bytes = sort.rowBytes();
  cost.sorting(sort.tile, 1);
  cost.collective(cost::CollectiveKind::AllGather, sort.shards * rows, bytes);
  cost.sorting(sort.shards * rows, 1);
  return cost.moved;
}

void selectFirst(const ShardedSort &sort, int64_t rows, const ValueShardings &shardings) {
  SortedShards shards(sort, shardings);
  SplitDimension::Values values = shards.locally(sort.tile);
  for (Value &value : values)
    value = shards.move(shards.sliced(value, 1, 0, rows), {{}, {}});
  bool padded = shards.isPadded(sort.tile);
  if (padded) {
    Value shard = shards.positions(values[0], 0, shards.integer(sort.tile));
    values.push_back(
        shards.isPast(shard, shards.positions(values[0], 1, shards.integer(sort.tile))));
  }
  for (Value &value : values)
    value = shards.reshaped(value, {sort.shards * rows}, {{}});
  values = shards.sorted(values, 0, [&](OpBuilder &b, ValueRange x, ValueRange y) {
    return padded ? shards.beforeUnlessPast(b, x, y) : shards.before(b, x, y);
  });
  for (auto [result, value] : llvm::zip(sort.op->getResults(), values))
    for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
      Value slice = user->getResult(0);
      replaceSharded(shards.b, slice, shards.sliced(value, 0, 0, shapeOf(slice)[sort.dim]),
                     shardings);
      user->erase();
    }
  sort.op->erase();
}

struct SelectFirstRows : impl::SelectFirstRowsBase<SelectFirstRows> {
  void runOnOperation() override {
    forEachBody(getOperation(),
                [](Block &body, ValueShardings &shardings, sharding::ReshardPlanner &planner) {
                  for (stablehlo::SortOp op : opsWithin<stablehlo::SortOp>(body)) {
                    std::optional<ShardedSort> sort = shardedSort(op, shardings);
                    std::optional<int64_t> rows = sort ? firstRows(*sort) : std::nullopt;
                    if (!rows)
                      continue;
                    MovedBytes cost = costOf(*sort, *rows, shardings, planner);
                    MovedBytes byRule = sortByRule(*sort, shardings, planner);
                    if (cost.seconds < byRule.seconds && cost.wireBytes <= byRule.wireBytes)
                      selectFirst(*sort, *rows, shardings);
                  }
                });
  }
};

} // namespace
} // namespace tessera
