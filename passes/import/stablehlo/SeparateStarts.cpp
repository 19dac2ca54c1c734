// A running reduction whose start changes what it is combined with takes the start once, and once
// more for each place of a window outside of the array. Apart from it, the rows can be reduced in
// parts. So can those of a reduction by a computation of its own (xor, or a sum beside a
// difference), of which each part would take the start. Passes.td shows an example.
//
// What is narrower than f32 is computed in f32 and rounded once, as one reduction would be.
#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Computations.h"
#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/RunningReduction.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "passes/OpsWithin.h"
#include "passes/import/Passes.h"
#include "passes/import/loops/CountedLoop.h"
#include "passes/import/stablehlo/NeutralElements.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace tessera {
#define GEN_PASS_DEF_SEPARATESTARTS
#include "passes/import/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;
using namespace tessera::import;
using sharding::ReductionKind;

namespace {

Type wide(Type element) {
  auto narrow = dyn_cast<FloatType>(element);
  return narrow && narrow.getWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

void widen(Value value) {
  value.setType(typeOf(value).clone(wide(typeOf(value).getElementType())));
}

class Separated {
public:
  Separated(ReduceWindowOp op, RunningDim running, ArrayRef<ReductionKind> kinds)
      : b(op), loc(op.getLoc()), op(op), running(running) {
    for (auto [init, kind] : llvm::zip_equal(op.getInitValues(), kinds)) {
      starts.push_back(converted(b, loc, init, wide(typeOf(init).getElementType())));
      none.push_back(neutral(starts.back(), kind));
    }
  }

  SmallVector<Value> results() {
    SmallVector<Value> operands;
    for (Value input : op.getInputs())
      operands.push_back(converted(b, loc, input, wide(typeOf(input).getElementType())));
    llvm::append_range(operands, none);
    auto rows = cast<ReduceWindowOp>(b.clone(*op));
    rows->setOperands(operands);
    Block &computation = rows.getBody().front();
    llvm::for_each(computation.getArguments(), widen);
    for (Operation &inner : computation.without_terminator())
      widen(inner.getResult(0));
    SmallVector<Value> values;
    for (auto [result, start] : llvm::zip_equal(rows.getResults(), repeated(computation))) {
      widen(result);
      values.push_back(BroadcastInDimOp::create(b, loc, result.getType(), start, running.dim));
    }
    llvm::append_range(values, rows.getResults());
    values = appliedToArrays(b, computation, values);
    for (auto [value, result] : llvm::zip_equal(values, op.getResults()))
      value = converted(b, loc, value, typeOf(result).getElementType());
    return values;
  }

private:
  // A scalar that changes nothing; a start that does so, however often, itself.
  Value neutral(Value start, ReductionKind kind) {
    if (kind != ReductionKind::Sum && kind != ReductionKind::Product)
      return start;
    Type element = typeOf(start).getElementType();
    int64_t number = kind == ReductionKind::Product;
    Attribute one;
    if (auto complex = dyn_cast<ComplexType>(element))
      one = b.getArrayAttr({b.getFloatAttr(complex.getElementType(), number),
                            b.getFloatAttr(complex.getElementType(), 0)});
    else if (isa<FloatType>(element))
      one = b.getFloatAttr(element, number);
    else
      one = IntegerAttr::get(element, number);
    return ConstantOp::create(b, loc, DenseElementsAttr::get(typeOf(start), ArrayRef(one)));
  }

  // For each place of the dimension, the start as often as it is taken: by squaring.
  SmallVector<Value> repeated(Block &computation) {
    int64_t size = shapeOf(op.getInputs()[0])[running.dim];
    auto lined = RankedTensorType::get({size}, b.getI64Type());
    auto spread = [&](Value scalar) -> Value {
      return BroadcastInDimOp::create(b, loc, lined.clone(typeOf(scalar).getElementType()), scalar,
                                      ArrayRef<int64_t>());
    };
    auto number = [&](int64_t n) { return spread(scalar(b, loc, n)); };
    Value place = IotaOp::create(b, loc, lined, 0), zero = number(0);
    Value times = running.forward ? Value(SubtractOp::create(b, loc, number(size), place))
                                  : Value(AddOp::create(b, loc, place, number(1)));
    SmallVector<Value> power(starts), all;
    for (int64_t bit = 1; bit <= size; bit *= 2) {
      Value isSet = CompareOp::create(b, loc, AndOp::create(b, loc, times, number(bit)), zero,
                                      ComparisonDirection::NE, ComparisonType::SIGNED);
      SmallVector<Value> taken(all);
      for (auto [value, without] : llvm::zip_equal(power, none))
        taken.push_back(SelectOp::create(b, loc, isSet, spread(value), spread(without)));
      all = all.empty() ? taken : appliedToArrays(b, computation, taken);
      power = appliedToArrays(
          b, computation, llvm::to_vector(llvm::concat<Value>(power, SmallVector<Value>(power))));
    }
    return all;
  }

  OpBuilder b;
  Location loc;
  ReduceWindowOp op;
  RunningDim running;
  SmallVector<Value> starts, none;
};

bool isStatic(Type type) { return cast<RankedTensorType>(type).hasStaticShape(); }

// The results of a reduction by a computation of its own, apart from its starts; none where these
// change nothing, or algebra knows of no others that do.
SmallVector<Value> separated(ReduceOp op) {
  Block &computation = op.getBody().front();
  auto isOfOneType = [](Type one, Type other) {
    return isStatic(one) && getElementTypeOrSelf(one) == getElementTypeOrSelf(other);
  };
  if (!combinersOf(op.getBody()).empty() || !isElementwise(computation) ||
      !llvm::equal(op->getOperandTypes(), computation.getArgumentTypes(), isOfOneType))
    return {};
  auto changesNothing = [](auto pair) {
    ElementsAttr start;
    return matchPattern(std::get<0>(pair), m_Constant(&start)) && start == std::get<1>(pair);
  };
  std::optional<SmallVector<ElementsAttr>> neutral = neutralElements(computation);
  if (!neutral || llvm::all_of(llvm::zip_equal(op.getInitValues(), *neutral), changesNothing))
    return {};
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> none, values;
  for (ElementsAttr element : *neutral)
    none.push_back(ConstantOp::create(b, loc, element));
  auto rows = cast<ReduceOp>(b.clone(*op));
  rows.getInitValuesMutable().assign(none);
  for (auto [start, result] : llvm::zip_equal(op.getInitValues(), op.getResults()))
    values.push_back(
        BroadcastInDimOp::create(b, loc, result.getType(), start, ArrayRef<int64_t>()));
  llvm::append_range(values, rows.getResults());
  return appliedToArrays(b, computation, values);
}

void replace(Operation *op, ValueRange results) {
  sdy::keepSharding(op->getResults(), results);
  op->replaceAllUsesWith(results);
  op->erase();
}

struct SeparateStartsPass : impl::SeparateStartsBase<SeparateStartsPass> {
  void runOnOperation() override {
    for (ReduceOp op : opsWithin<ReduceOp>(getOperation()))
      if (SmallVector<Value> results = separated(op); !results.empty())
        replace(op, results);
    for (ReduceWindowOp op : opsWithin<ReduceWindowOp>(getOperation())) {
      if (!llvm::all_of(op->getOperandTypes(), isStatic))
        continue;
      std::optional<RunningDim> running = onlyRunningDim(op);
      SmallVector<ReductionKind> kinds = runningKinds(op);
      if (running && !kinds.empty() && !isSplittable(op))
        replace(op, Separated(op, *running, kinds).results());
    }
  }
};

} // namespace
} // namespace tessera
