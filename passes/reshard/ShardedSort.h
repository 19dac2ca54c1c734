// Sorts along sharded dimensions: what two passes that keep the dimension sharded have in common.
#pragma once

#include "passes/reshard/PlacedOps.h"
#include "passes/reshard/SplitDimension.h"

namespace tessera {

struct ShardedSort {
  stablehlo::SortOp op;
  int64_t dim, size, shards, tile;
  sharding::TensorSharding place; // of the first operand that is not free
  sharding::AxisRefs axes;        // of the dimension, there

  mlir::SmallVector<int64_t> shape() const {
    return mlir::SmallVector<int64_t>(shapeOf(op->getResult(0)));
  }
  int64_t rowBytes() const; // an element of each operand
};

// None when the dimension is not sharded.
std::optional<ShardedSort> shardedSort(stablehlo::SortOp op, const ValueShardings &shardings);

// Sums up what a distributed sort takes. A row is an element along the sorted dimension, in all
// lines that a device has.
class SortCost {
public:
  SortCost(const ShardedSort &sort, const ValueShardings &shardings,
           sharding::ReshardPlanner &planner);

  void collective(cost::CollectiveKind kind, int64_t rows, int64_t bytes);
  void sorting(int64_t rows, int64_t count); // local, of `count` times `rows` elements
  void resultsMoved(); // from where the sort has them to where they are wanted
  MovedBytes moved;

private:
  const ShardedSort &sort;
  const ValueShardings &shardings;
  sharding::ReshardPlanner &planner;
  int64_t lines = 1;
};

// The cheapest way by the sort's rule. Sorts of n rows read and write them log2(n) times.
MovedBytes sortByRule(const ShardedSort &sort, const ValueShardings &shardings,
                      sharding::ReshardPlanner &planner);

// Ops on the sort's operands and what becomes of them.
class SortedShards : public SplitDimension {
public:
  SortedShards(const ShardedSort &sort, const ValueShardings &shardings);

  // The operands as {shards, rows}, each shard sorted. Elements that do not exist, where there are
  // some, come last. rows >= sort.tile
  Values locally(int64_t rows);

  // Whether the operands of `locally(rows)` have elements that do not exist.
  bool isPadded(int64_t rows) const { return sort.shards * rows != sort.size; }
  // Whether place `row` of shard `shard`, integers, has an element that does not exist.
  mlir::Value isPast(mlir::Value shard, mlir::Value row);
  // Of integers up to 2 * shards * rows.
  mlir::IntegerType integer(int64_t rows) const;

  // The sort's own order; with marks behind the operands for elements that do not exist.
  mlir::Value before(mlir::OpBuilder &b, mlir::ValueRange x, mlir::ValueRange y) const;
  mlir::Value beforeUnlessPast(mlir::OpBuilder &b, mlir::ValueRange x, mlir::ValueRange y) const;

private:
  const ShardedSort &sort;
  const ValueShardings &valueShardings;
};

// Puts `value`, which lies as its sharding says, in the place of `result`.
void replaceSharded(mlir::OpBuilder &b, mlir::Value result, mlir::Value value,
                    const ValueShardings &shardings);

} // namespace tessera
