// Reductions of several dimensions by a region that is of no kind (their order counts) keep all of
// them sharded: each shard is reduced first, innermost dimension first, so that the order of the
// elements stays.
//
// The first dimension may be sharded, too: what shards make of their rows is gathered in order
// (passes/localize/Reduce.cpp). Passes.td shows an example.
#include "dialects/stablehlo/Combiner.h"
#include "mlir/IR/IRMapping.h"
#include "passes/OpsWithin.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/PlacedOps.h"
#include "passes/reshard/SplitDimension.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;
using sharding::AxisRefs;
using sharding::TensorSharding;

// What is left of an input as dimensions are reduced.
struct Remainder {
  SmallVector<int64_t> shape;
  TensorSharding place;
  SmallVector<int64_t> reduced; // dimensions yet to be reduced, ascending

  int64_t first() const { // the first of them that has several elements
    auto *found = llvm::find_if(reduced, [&](int64_t d) { return shape[d] > 1; });
    return found == reduced.end() ? -1 : *found;
  }
  // The last one that is sharded behind the first: -1 when there is none.
  int64_t lastSharded() const {
    for (int64_t d : llvm::reverse(reduced))
      if (d != first() && shape[d] > 1 && !place.dims[d].axes.empty())
        return d;
    return -1;
  }
  // Once each shard of dimension `d` is one element, and dimensions behind it are reduced.
  Remainder withShardsReduced(int64_t d) const {
    Remainder next;
    for (auto [i, size] : llvm::enumerate(shape)) {
      bool isReduced = llvm::is_contained(reduced, int64_t(i));
      if (isReduced && int64_t(i) > d)
        continue;
      if (isReduced)
        next.reduced.push_back(next.shape.size());
      next.shape.push_back(int64_t(i) == d ? sharding::shardCount(place.dims[d].axes) : size);
      next.place.dims.push_back(place.dims[i]);
    }
    return next;
  }
  // Once all is reduced.
  Remainder result() const {
    Remainder next;
    for (auto [i, size] : llvm::enumerate(shape))
      if (!llvm::is_contained(reduced, int64_t(i))) {
        next.shape.push_back(size);
        next.place.dims.push_back(place.dims[i]);
      }
    return next;
  }
};

// Where the elements of shards go, for each dimension that is reduced within them; and what moves.
struct Plan {
  std::vector<std::pair<int64_t, TensorSharding>> steps;
  MovedBytes cost;
};

class Planner {
public:
  Planner(stablehlo::ReduceOp op, const ValueShardings &shardings,
          sharding::ReshardPlanner &planner)
      : op(op), shardings(shardings), planner(planner) {}

  Plan plan(Remainder left) {
    Plan plan;
    for (int64_t d = left.lastSharded(); d >= 0; d = left.lastSharded()) {
      left = left.withShardsReduced(d);
      left.place = best(left, d, plan.cost);
      plan.steps.emplace_back(d, left.place);
    }
    plan.cost += finish(left);
    return plan;
  }

private:
  MovedBytes moved(ArrayRef<int64_t> shape, const TensorSharding &from, const TensorSharding &to) {
    MovedBytes sum;
    for (Value input : op.getInputs())
      sum += movedBytes(shape, elementBytes(input), from, to, planner);
    return sum;
  }

  // To gather what shards make of the first dimension, and to bring the result where it is wanted.
  MovedBytes finish(const Remainder &left) {
    Remainder result = left.result();
    MovedBytes sum = moved(result.shape, result.place, shardings.of(op->getResult(0)));
    if (left.first() < 0 || left.place.dims[left.first()].axes.empty())
      return sum;
    result.shape.push_back(sharding::shardCount(left.place.dims[left.first()].axes));
    TensorSharding apart = result.place, together = result.place;
    apart.dims.push_back(left.place.dims[left.first()]);
    together.dims.push_back({});
    return sum += moved(result.shape, apart, together);
  }

  // Dimension `d` is needed whole: its axes go to the first dimension, to one that stays, or away.
  TensorSharding best(const Remainder &left, int64_t d, MovedBytes &total) {
    std::optional<MovedBytes> least;
    Remainder chosen = left;
    for (int64_t to = -1; to < int64_t(left.shape.size()); ++to) {
      bool stays = !llvm::is_contained(left.reduced, to);
      if (to == d || (to >= 0 && !stays && to != left.first()))
        continue;
      Remainder next = left;
      if (to >= 0)
        next.place.dims[to].axes.append(next.place.dims[d].axes);
      next.place.dims[d].axes.clear();
      MovedBytes here = moved(left.shape, left.place, next.place), all = here;
      all += finish(next);
      if (!least || all.seconds < least->seconds) {
        least = all;
        chosen = next;
      }
    }
    total += moved(left.shape, left.place, chosen.place);
    return chosen.place;
  }

  stablehlo::ReduceOp op;
  const ValueShardings &shardings;
  sharding::ReshardPlanner &planner;
};

class Splitter {
public:
  Splitter(stablehlo::ReduceOp op, ValueShardings &shardings, const Remainder &left)
      : op(op), shardings(shardings), left(left), b(op) {
    for (Value input : op.getInputs())
      values.push_back(shardings.moved(input, left.place, op));
    for (Value init : op.getInitValues())
      starts.push_back(shardings.moved(init, TensorSharding::replicatedOver(0), op));
  }

  void run(const Plan &plan) {
    for (const auto &[d, to] : plan.steps)
      reduceShards(d, to);
    Operation *last = reduced(left.reduced, left.result());
    for (auto [result, value] : llvm::zip_equal(op->getResults(), last->getResults())) {
      shardings.set(value, shardings.of(result));
      result.replaceAllUsesWith(value);
    }
    op->erase();
  }

private:
  void reduceShards(int64_t d, const TensorSharding &to) {
    const AxisRefs axes = left.place.dims[d].axes;
    int64_t shards = sharding::shardCount(axes), tile = llvm::divideCeil(left.shape[d], shards);
    for (auto [value, start] : llvm::zip_equal(values, starts)) {
      SplitDimension dim(shardings, op, value, d);
      value = dim.padded(value, 0, 0, shards * tile - left.shape[d], start);
      value = dim.reshaped(value, {shards, tile}, {axes, {}});
    }
    SmallVector<int64_t> dims{d + 1};
    for (int64_t r : left.reduced)
      if (r > d)
        dims.push_back(r + 1);
    left = left.withShardsReduced(d);
    Operation *made = reduced(dims, left);
    left.place = to;
    for (auto [value, result] : llvm::zip_equal(values, made->getResults()))
      value = sdy::ReshardOp::create(b, op.getLoc(), result.getType(), result, shardings.attr(to));
  }

  Operation *reduced(ArrayRef<int64_t> dims, const Remainder &after) {
    SmallVector<Type> types;
    for (Value start : starts)
      types.push_back(RankedTensorType::get(
          after.shape, cast<RankedTensorType>(start.getType()).getElementType()));
    auto made = stablehlo::ReduceOp::create(b, op.getLoc(), types, values, starts, dims);
    IRMapping mapping;
    op.getBody().cloneInto(&made.getBody(), mapping);
    for (Value result : made.getResults())
      shardings.set(result, after.place);
    return made;
  }

  stablehlo::ReduceOp op;
  ValueShardings &shardings;
  Remainder left;
  OpBuilder b;
  SmallVector<Value> values, starts;
};

// A region that combines each pair by a kind of its own is several reductions, one of each kind,
// whose parts can be combined in any order.
//   reduce(%x, %y) by (add, maximum)   ->   reduce(%x) by add;  reduce(%y) by maximum
void splitByKind(stablehlo::ReduceOp op, ArrayRef<sharding::ReductionKind> kinds,
                 const ValueShardings &shardings) {
  OpBuilder b(op);
  Block &body = op.getBody().front();
  llvm::MapVector<sharding::ReductionKind, SmallVector<size_t>> byKind;
  for (auto [i, kind] : llvm::enumerate(kinds))
    byKind[kind].push_back(i);
  for (auto &[kind, group] : byKind) {
    SmallVector<Value> inputs, starts;
    SmallVector<Type> types, scalars;
    for (size_t i : group) {
      inputs.push_back(op.getInputs()[i]);
      starts.push_back(op.getInitValues()[i]);
      types.push_back(op->getResult(i).getType());
      scalars.push_back(body.getArgument(i).getType());
    }
    auto made =
        stablehlo::ReduceOp::create(b, op.getLoc(), types, inputs, starts, op.getDimensions());
    scalars.append(scalars.begin(), scalars.end());
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&made.getBody(), {}, scalars,
                                 SmallVector<Location>(scalars.size(), op.getLoc()));
    SmallVector<Value> combined;
    for (auto [at, i] : llvm::enumerate(group)) {
      IRMapping mapping;
      mapping.map(body.getArgument(i), block->getArgument(at));
      mapping.map(body.getArgument(i + kinds.size()), block->getArgument(at + group.size()));
      Operation *pair = body.getTerminator()->getOperand(i).getDefiningOp();
      combined.push_back(b.clone(*pair, mapping)->getResult(0));
      shardings.set(made->getResult(at), shardings.of(op->getResult(i)));
      op->getResult(i).replaceAllUsesWith(made->getResult(at));
    }
    stablehlo::ReturnOp::create(b, op.getLoc(), combined);
  }
  op->erase();
}

bool reducesShards(stablehlo::ReduceOp op, const ValueShardings &shardings) {
  return llvm::any_of(op.getInputs(), [&](Value input) {
    return llvm::any_of(op.getDimensions(),
                        [&](int64_t d) { return !shardings.of(input).dims[d].axes.empty(); });
  });
}

// None for reductions that need no help.
std::optional<Remainder> sharded(stablehlo::ReduceOp op, const ValueShardings &shardings) {
  auto first = llvm::find_if(op.getInputs(), [](Value input) { return !isFree(input); });
  if (stablehlo::combinerOf(op.getBody()) || first == op.getInputs().end())
    return std::nullopt;
  Remainder left{SmallVector<int64_t>(shapeOf(*first)), shardings.of(*first),
                 SmallVector<int64_t>(op.getDimensions())};
  llvm::sort(left.reduced);
  if (!left.place.unreduced.empty() || llvm::is_contained(left.shape, 0) || left.lastSharded() < 0)
    return std::nullopt;
  return left;
}

struct SplitReductions : impl::SplitReductionsBase<SplitReductions> {
  void runOnOperation() override {
    forEachBody(getOperation(), [](Block &body, ValueShardings &shardings,
                                   sharding::ReshardPlanner &planner) {
      for (stablehlo::ReduceOp op : opsWithin<stablehlo::ReduceOp>(body)) {
        SmallVector<sharding::ReductionKind> kinds = stablehlo::combinersOf(op.getBody());
        if (!kinds.empty() && !llvm::all_equal(kinds) && reducesShards(op, shardings)) {
          splitByKind(op, kinds, shardings);
          continue;
        }
        std::optional<Remainder> left = sharded(op, shardings);
        if (!left)
          continue;
        Plan plan = Planner(op, shardings, planner).plan(*left);
        if (plan.cost.seconds < cheapestByRule(op, shardings, planner).seconds)
          Splitter(op, shardings, *left).run(plan);
      }
    });
  }
};

} // namespace
} // namespace tessera
