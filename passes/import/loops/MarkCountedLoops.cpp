// Marks while loops that count from a constant to a constant with their number of trips.
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

namespace tessera {
#define GEN_PASS_DEF_MARKCOUNTEDLOOPS
#include "passes/import/Passes.h.inc"

using namespace mlir;
using stablehlo::ComparisonDirection;
using stablehlo::WhileOp;

namespace {

using Wide = __int128;

struct Counter {
  Wide start, bound, step;
  ComparisonDirection direction; // the loop goes on while `counter direction bound`
};

// The number of trips; nothing when the counter wraps around or never meets its bound.
std::optional<int64_t> tripCount(Counter c, Wide lowest, Wide highest) {
  auto trips = [&](Wide distance, Wide step) -> std::optional<int64_t> {
    if (distance <= 0)
      return 0;
    if (step <= 0)
      return std::nullopt;
    return int64_t((distance + step - 1) / step);
  };
  std::optional<int64_t> n;
  switch (c.direction) {
  case ComparisonDirection::LT:
    n = trips(c.bound - c.start, c.step);
    break;
  case ComparisonDirection::LE:
    n = trips(c.bound - c.start + 1, c.step);
    break;
  case ComparisonDirection::GT:
    n = trips(c.start - c.bound, -c.step);
    break;
  case ComparisonDirection::GE:
    n = trips(c.start - c.bound + 1, -c.step);
    break;
  case ComparisonDirection::NE: {
    Wide distance = c.bound - c.start;
    if (distance == 0)
      n = 0;
    else if (c.step != 0 && distance % c.step == 0 && distance / c.step > 0)
      n = int64_t(distance / c.step);
    break;
  }
  case ComparisonDirection::EQ:
    n = c.start == c.bound ? (c.step == 0 ? std::nullopt : std::optional<int64_t>(1)) : 0;
  }
  if (!n)
    return std::nullopt;
  Wide last = c.start + Wide(*n) * c.step;
  return last >= lowest && last <= highest ? n : std::nullopt;
}

// The comparison with its sides exchanged.
ComparisonDirection exchanged(ComparisonDirection d) {
  switch (d) {
  case ComparisonDirection::LT:
    return ComparisonDirection::GT;
  case ComparisonDirection::LE:
    return ComparisonDirection::GE;
  case ComparisonDirection::GT:
    return ComparisonDirection::LT;
  case ComparisonDirection::GE:
    return ComparisonDirection::LE;
  default:
    return d;
  }
}

// The loop-carried position of an argument of one of the loop's regions, or -1.
int64_t carriedPosition(WhileOp loop, Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg || arg.getOwner()->getParentOp() != loop)
    return -1;
  return arg.getArgNumber();
}

// The integer that `value` always is: a constant, or an argument that loops carry unchanged from
// one.
std::optional<APInt> constantOf(Value value) {
  while (true) {
    DenseIntElementsAttr elements;
    if (matchPattern(value, m_Constant(&elements)))
      return elements.getNumElements() == 1 ? std::optional<APInt>(*elements.begin())
                                            : std::nullopt;
    auto arg = dyn_cast<BlockArgument>(value);
    auto loop = arg ? dyn_cast<WhileOp>(arg.getOwner()->getParentOp()) : WhileOp();
    if (!loop)
      return std::nullopt;
    unsigned i = arg.getArgNumber();
    if (loop.getBody().front().getTerminator()->getOperand(i) != loop.getBody().getArgument(i))
      return std::nullopt;
    value = loop.getOperand()[i];
  }
}

std::optional<int64_t> tripCountOf(WhileOp loop) {
  Operation *condition = loop.getCond().front().getTerminator();
  if (condition->getNumOperands() != 1)
    return std::nullopt;
  auto compare = condition->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare->getParentRegion() != &loop.getCond())
    return std::nullopt;
  Value counter = compare.getLhs(), bound = compare.getRhs();
  ComparisonDirection direction = compare.getComparisonDirection();
  int64_t i = carriedPosition(loop, counter);
  std::optional<APInt> end = i < 0 ? std::nullopt : constantOf(bound);
  if (!end) {
    std::swap(counter, bound);
    direction = exchanged(direction);
    i = carriedPosition(loop, counter);
    end = i < 0 ? std::nullopt : constantOf(bound);
  }
  auto type = dyn_cast<IntegerType>(compare.getLhs().getType().getElementType());
  if (!end || !type)
    return std::nullopt;

  Value next = loop.getBody().front().getTerminator()->getOperand(i);
  Value self = loop.getBody().getArgument(i);
  std::optional<APInt> start = constantOf(loop.getOperand()[i]), step;
  bool down = false;
  if (auto add = next.getDefiningOp<stablehlo::AddOp>()) {
    step = add.getLhs() == self   ? constantOf(add.getRhs())
           : add.getRhs() == self ? constantOf(add.getLhs())
                                  : std::nullopt;
  } else if (auto subtract = next.getDefiningOp<stablehlo::SubtractOp>()) {
    step = subtract.getLhs() == self ? constantOf(subtract.getRhs()) : std::nullopt;
    down = true;
  }
  if (!start || !step)
    return std::nullopt;
  bool isUnsigned = type.isUnsigned();
  auto wide = [&](const APInt &v) {
    return isUnsigned ? Wide(v.getZExtValue()) : Wide(v.getSExtValue());
  };
  unsigned width = type.getWidth();
  Wide lowest = isUnsigned ? 0 : -(Wide(1) << (width - 1));
  Wide highest = isUnsigned ? (Wide(1) << width) - 1 : (Wide(1) << (width - 1)) - 1;
  return tripCount({wide(*start), wide(*end), down ? -wide(*step) : wide(*step), direction}, lowest,
                   highest);
}

struct MarkCountedLoopsPass : impl::MarkCountedLoopsBase<MarkCountedLoopsPass> {
  void runOnOperation() override {
    getOperation().walk([](WhileOp loop) { setTripCount(loop, tripCountOf(loop)); });
  }
};

} // namespace
} // namespace tessera
