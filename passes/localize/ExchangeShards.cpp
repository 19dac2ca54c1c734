// An exchange between any two layouts: in each round a device sends one part of its array and
// receives one part of what it wants (lib/sharding/ShardExchange.h).
//
//   // 6 rows on x=2, y=3, from {x} (local 3) to {y} (local 2); one round of one row
//   %rank = comm.axis_index over ["x"=2, "y"=3]
//   %part = dynamic_slice %value at table[%rank], sizes = [1]
//   %came = comm.permute(%part) pairs [..]
//   %next = dynamic_update_slice %result, %came at table[%rank]
// Where a device receives less than others do, or nothing, it selects what it keeps.
#include "passes/localize/ExchangeShards.h"

#include "passes/localize/Rows.h"

using namespace mlir;

namespace tessera::localize {
namespace {

class Expansion {
public:
  Expansion(Localizer &l, const sharding::ShardExchange &exchange)
      : l(l), exchange(exchange),
        rank(comm::AxisIndexOp::create(l.b, l.loc, l.axesAttr(exchange.axes))) {}

  Value run(Value value) {
    Value result = zeros(l, cast<RankedTensorType>(value.getType()).clone(exchange.shape));
    for (const sharding::ExchangeRound &round : exchange.rounds) {
      Value part = partOf(value, round);
      if (!round.pairs.empty())
        part = comm::PermuteOp::create(l.b, l.loc, part, l.axesAttr(exchange.axes), round.pairs)
                   .getResult(0);
      result = put(part, result, round);
    }
    return result;
  }

private:
  // A number of my rank's.
  Value lookUp(ArrayRef<int64_t> table) {
    if (llvm::all_equal(table))
      return scalar(l, table.front());
    auto type = RankedTensorType::get({int64_t(table.size())}, l.b.getI32Type());
    SmallVector<int32_t> numbers(table.begin(), table.end());
    Value all = stablehlo::ConstantOp::create(
        l.b, l.loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
    Value mine = dynamicRows(l, all, 0, rank, 1);
    return stablehlo::ReshapeOp::create(l.b, l.loc, RankedTensorType::get({}, l.b.getI32Type()),
                                        mine);
  }

  Value sliceAt(Value value, ArrayRef<Value> starts, ArrayRef<int64_t> sizes) {
    return stablehlo::DynamicSliceOp::create(
        l.b, l.loc, cast<RankedTensorType>(value.getType()).clone(sizes), value, starts, sizes);
  }

  // With room at the end, so that nobody's start is clamped.
  Value partOf(Value value, const sharding::ExchangeRound &round) {
    SmallVector<Value> starts;
    for (auto [d, table] : llvm::enumerate(round.from)) {
      int64_t last = *llvm::max_element(table) + round.shape[d];
      value = padRows(l, value, d, 0, std::max<int64_t>(0, last - shapeOf(value)[d]));
      starts.push_back(lookUp(table));
    }
    return shapeOf(value) == ArrayRef(round.shape) ? value : sliceAt(value, starts, round.shape);
  }

  Value put(Value part, Value result, const sharding::ExchangeRound &round) {
    bool wholeParts = true;
    for (auto [d, rows] : llvm::enumerate(round.rows))
      wholeParts &= llvm::all_of(rows, [&](int64_t n) { return n == round.shape[d]; });
    if (!wholeParts)
      return putSome(part, result, round);
    if (round.shape == exchange.shape)
      return part;
    SmallVector<Value> starts;
    for (const std::vector<int64_t> &table : round.to)
      starts.push_back(lookUp(table));
    return stablehlo::DynamicUpdateSliceOp::create(l.b, l.loc, result.getType(), result, part,
                                                   starts);
  }

  // The part is brought to its place in an array like the result, of which a mask takes it.
  Value putSome(Value part, Value result, const sharding::ExchangeRound &round) {
    using Direction = stablehlo::ComparisonDirection;
    ArrayRef<int64_t> shape = exchange.shape;
    ArrayRef<int64_t> someRows = round.rows.front(); // 0: that rank receives nothing
    SmallVector<Value> starts;
    Value mask;
    bool moves = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      bool whole = true;
      int64_t first = llvm::find_if(someRows, [](int64_t n) { return n > 0; }) - someRows.begin();
      SmallVector<int64_t> start, low, end;
      for (auto [some, to, rows] : llvm::zip_equal(someRows, round.to[d], round.rows[d])) {
        low.push_back(some ? to : round.to[d][first]);
        start.push_back(shape[d] - low.back());
        end.push_back(low.back() + rows);
        whole &= !some || rows == shape[d];
      }
      if (whole) {
        starts.push_back(scalar(l, 0));
        continue;
      }
      part = padRows(l, part, d, shape[d], shape[d]);
      starts.push_back(lookUp(start));
      moves = true;
      Value numbers = rowNumbers(l, shape, d, {});
      Value mine =
          binary(l, "and", compare(l, numbers, splat(l, lookUp(low), shape), Direction::GE),
                 compare(l, numbers, splat(l, lookUp(end), shape), Direction::LT));
      mask = mask ? binary(l, "and", mask, mine) : mine;
    }
    if (!mask)
      mask = splat(l, compare(l, lookUp(someRows), scalar(l, 0), Direction::GT), shape);
    return select(l, mask, moves ? sliceAt(part, starts, shape) : part, result);
  }

  Localizer &l;
  const sharding::ShardExchange &exchange;
  Value rank;
};

} // namespace

Value exchangeShards(Localizer &l, Value value, const sharding::ShardExchange &exchange) {
  return Expansion(l, exchange).run(value);
}

} // namespace tessera::localize
