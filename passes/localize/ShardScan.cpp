// Running reductions along a sharded dimension: shards' totals travel, not rows.
//
//   %r = reduce_window(%x) add, window 4, padding [3, 0]         of my rows
//   %t = the last row of %r
//   %1 = comm.shift(%t) by 1, 0 where nothing comes from          what one shard before mine has
//   %2 = comm.shift(%1 + %t) by 2, ..;  %b = %2 + %1              what three shards before mine have
//   %r + broadcast of %b
//
// or, of many totals, in parts from shard to shard (lib/sharding/ShardScan.h says when):
//
//   %b = while %i < shards - 2 + parts {
//     %got = comm.shift(%sum) by 1
//     part k = %i - my index of %b = %got
//     %sum = %got + part k of %t
//   }
#include "passes/localize/ShardScan.h"

#include "dialects/comm/Collective.h"
#include "dialects/stablehlo/Computations.h"
#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/RunningReduction.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "lib/sharding/ShardScan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera::localize {
namespace {

// Of arrays that come before and those after, what the computation makes of both.
using Combine = function_ref<SmallVector<Value>(ValueRange)>;

class ExclusiveScan {
public:
  ExclusiveScan(Localizer &l, Combine combine, ValueRange starts, bool forward,
                ArrayRef<sharding::AxisRef> axes)
      : l(l), combine(combine), starts(starts), forward(forward), axes(axes),
        shards(sharding::shardCount(axes)) {
    place = myStart(l, axes, 1, 0);
    if (!forward)
      place = binary(l, "subtract", scalar(l, shards - 1), place);
  }

  // The totals of all shards before mine, or after.
  SmallVector<Value> of(ValueRange totals) {
    int64_t bytes = 0; // of one element of each
    for (Value total : totals)
      bytes += std::max<int64_t>(
          1, comm::tensorBytes(RankedTensorType::get({}, typeOf(total).getElementType())));
    sharding::ShardScan plan = sharding::planShardScan(
        l.getTopology(), l.getMesh(), typeOf(totals[0]).getNumElements(), bytes, axes);
    return plan.chunks ? pipelined(totals, plan.chunks) : doubled(totals);
  }

private:
  SmallVector<Value> doubled(ValueRange totals) {
    SmallVector<Value> before, mine(totals);
    for (int64_t distance = 1; distance < shards; distance *= 2) {
      SmallVector<Value> got = shifted(mine, distance);
      before = before.empty() ? got : combined(got, before);
      if (2 * distance < shards)
        mine = combined(got, mine);
    }
    return before;
  }

  SmallVector<Value> pipelined(ValueRange totals, int64_t chunks) {
    int64_t elements = typeOf(totals[0]).getNumElements(),
            part = llvm::divideCeil(elements, chunks);
    SmallVector<Value> flat, carried{scalar(l, 1)};
    for (auto [total, start] : llvm::zip_equal(totals, starts)) {
      Value line = reshaped(total, elements);
      if (int64_t rest = part * chunks - elements)
        line = concatRows(l, {line, splat(l, start, {rest})}, 0);
      flat.push_back(line);
    }
    for (Value line : flat) // what the first shard passes on
      carried.push_back(sliceRows(l, line, 0, 0, part));
    for (auto [line, start] : llvm::zip_equal(flat, starts))
      carried.push_back(splat(l, start, shapeOf(line)));
    SmallVector<Value> done = loop(carried, pipelineTrips(chunks) + 1, [&](ValueRange values) {
      Value trip = values[0];
      ValueRange sums = values.slice(1, flat.size()), before = values.drop_front(1 + flat.size());
      SmallVector<Value> got = shifted(sums, 1), parts, next;
      Value chunk = binary(l, "subtract", trip, place);
      using Direction = stablehlo::ComparisonDirection;
      Value isOne = binary(l, "and", compare(l, chunk, scalar(l, 0), Direction::GE),
                           compare(l, chunk, scalar(l, chunks), Direction::LT));
      Value at = binary(l, "multiply", chunk, scalar(l, part));
      for (Value line : flat)
        parts.push_back(dynamicRows(l, line, 0, at, part));
      next.push_back(binary(l, "add", trip, scalar(l, 1)));
      llvm::append_range(next, combined(got, parts));
      for (auto [all, received] : llvm::zip_equal(before, got)) {
        Value kept = select(l, isOne, received, dynamicRows(l, all, 0, at, part));
        next.push_back(stablehlo::DynamicUpdateSliceOp::create(l.b, l.loc, all, kept, at));
      }
      return next;
    });
    SmallVector<Value> before;
    for (auto [line, total] : llvm::zip_equal(ArrayRef(done).drop_front(1 + flat.size()), totals)) {
      Value all = sliceRows(l, line, 0, 0, elements);
      before.push_back(stablehlo::ReshapeOp::create(l.b, l.loc, total.getType(), all));
    }
    return before;
  }

  int64_t pipelineTrips(int64_t chunks) { return sharding::pipelineSteps(shards, chunks); }

  // while (values[0] < end) values = body(values)
  SmallVector<Value> loop(ValueRange values, int64_t end,
                          function_ref<SmallVector<Value>(ValueRange)> body) {
    SmallVector<Location> locations(values.size(), l.loc);
    auto made = stablehlo::WhileOp::create(l.b, l.loc, values.getTypes(), values);
    setTripCount(made, end - 1);
    OpBuilder::InsertionGuard guard(l.b);
    Block *condition = l.b.createBlock(&made.getCond(), {}, values.getTypes(), locations);
    stablehlo::ReturnOp::create(
        l.b, l.loc,
        compare(l, condition->getArgument(0), scalar(l, end), stablehlo::ComparisonDirection::LT));
    Block *round = l.b.createBlock(&made.getBody(), {}, values.getTypes(), locations);
    stablehlo::ReturnOp::create(l.b, l.loc, body(round->getArguments()));
    return llvm::to_vector_of<Value>(made.getResults());
  }

  // What the shard `distance` before mine has; the start where there is none.
  SmallVector<Value> shifted(ValueRange values, int64_t distance) {
    Value has = compare(l, place, scalar(l, distance), stablehlo::ComparisonDirection::GE);
    SmallVector<Value> got;
    for (auto [value, start] : llvm::zip_equal(values, starts)) {
      Value sent = comm::ShiftOp::create(l.b, l.loc, value, l.axesAttr(axes),
                                         forward ? distance : -distance, /*wrap=*/false)
                       .getResult(0);
      got.push_back(select(l, has, sent, splat(l, start, shapeOf(value))));
    }
    return got;
  }

  SmallVector<Value> combined(ValueRange before, ValueRange mine) {
    if (!forward)
      std::swap(before, mine);
    return combine(
        llvm::to_vector(llvm::concat<Value>(llvm::to_vector(before), llvm::to_vector(mine))));
  }

  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    return stablehlo::ReshapeOp::create(l.b, l.loc, typeOf(value).clone(shape), value);
  }

  Localizer &l;
  Combine combine;
  ValueRange starts;
  bool forward;
  ArrayRef<sharding::AxisRef> axes;
  int64_t shards;
  Value place; // mine in the order of the scan
};

bool isNarrow(Value array) {
  Type element = typeOf(array).getElementType();
  return element.isBF16() || element.isF16();
}

// Whether an operation of two numbers rounds its result.
bool rounds(ReductionKind kind) {
  return kind == ReductionKind::Sum || kind == ReductionKind::Product;
}

// Whether these are sums and products, some of types so narrow that they are made in f32.
bool areNarrow(ArrayRef<ReductionKind> kinds, ValueRange running) {
  return kinds.size() == running.size() && llvm::all_of(kinds, rounds) &&
         llvm::any_of(running, isNarrow);
}

// Narrow arrays as f32.
SmallVector<Value> widened(Localizer &l, ValueRange arrays) {
  SmallVector<Value> wide;
  for (Value array : arrays)
    wide.push_back(isNarrow(array) ? stablehlo::converted(l.b, l.loc, array, l.b.getF32Type())
                                   : array);
  return wide;
}

SmallVector<Value> scanned(Localizer &l, Combine combine, ValueRange running, ValueRange starts,
                           int64_t dim, bool forward, ArrayRef<sharding::AxisRef> axes) {
  int64_t last = forward ? shapeOf(running[0])[dim] - 1 : 0;
  SmallVector<Value> totals, spread, within(running);
  for (Value value : running)
    totals.push_back(sliceRows(l, value, dim, last, last + 1));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(running[0]).size()));
  for (auto [value, whole] :
       llvm::zip_equal(ExclusiveScan(l, combine, starts, forward, axes).of(totals), running))
    spread.push_back(stablehlo::BroadcastInDimOp::create(l.b, l.loc, whole.getType(), value, dims));
  if (!forward)
    std::swap(spread, within);
  spread.append(within);
  return combine(spread);
}

} // namespace

SmallVector<Value> acrossShards(Localizer &l, stablehlo::ReduceWindowOp op, ValueRange running,
                                ValueRange starts, int64_t dim, bool forward,
                                ArrayRef<sharding::AxisRef> axes) {
  SmallVector<ReductionKind> kinds = stablehlo::runningKinds(op);
  if (!areNarrow(kinds, running))
    return scanned(
        l,
        [&](ValueRange arrays) {
          return stablehlo::appliedToArrays(l.b, op.getBody().front(), arrays);
        },
        running, starts, dim, forward, axes);
  // Rounded once a shard's own results, and once what comes of them: not at each shard that they go past.
  auto combine = [&](ValueRange arrays) {
    SmallVector<Value> combined;
    for (auto [kind, before, own] : llvm::zip_equal(kinds, arrays.take_front(running.size()),
                                                    arrays.drop_front(running.size())))
      combined.push_back(binary(l, kind == ReductionKind::Sum ? "add" : "multiply", before, own));
    return combined;
  };
  SmallVector<Value> wide = widened(l, running), first = widened(l, starts);
  SmallVector<Value> results = scanned(l, combine, wide, first, dim, forward, axes);
  for (auto [result, own] : llvm::zip_equal(results, running))
    result = stablehlo::converted(l.b, l.loc, result, typeOf(own).getElementType());
  return results;
}

} // namespace tessera::localize
