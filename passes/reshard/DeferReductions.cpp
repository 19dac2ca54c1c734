// Moves reductions of partial values behind ops that commute with them, where that takes less time;
// the partial-value law (lib/sharding/PartialLaw.h) says which do. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "lib/sharding/FactorAxes.h"
#include "lib/sharding/ReshardSearch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/reshard/PartialOperands.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/ValueShardings.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tessera {

#define GEN_PASS_DEF_DEFERREDUCTIONS
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;
using sharding::AxisRefs;
using sharding::TensorSharding;

// The reshard that makes `value`, if it does nothing but reduce or also moves: from partial to not
// partial.
sdy::ReshardOp reductionOf(Value value, const ValueShardings &shardings) {
  auto reshard = value.getDefiningOp<sdy::ReshardOp>();
  if (!reshard || shardings.of(reshard.getInput()).unreduced.empty() ||
      !shardings.of(reshard.getResult()).unreduced.empty())
    return {};
  return reshard;
}

Value inputOf(sdy::ReshardOp reshard) { return reshard.getInput(); }

TensorSharding reduced(TensorSharding sharding) {
  sharding.unreduced.clear();
  return sharding;
}

class Deferrer {
public:
  Deferrer(ValueShardings &shardings, sharding::ReshardPlanner &planner)
      : shardings(shardings), planner(planner) {}

  void visit(Block &block) {
    for (Operation &op : block) { // sinking an op may erase ops right behind it, never itself
      if (isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp, sdy::ManualComputationOp>(op))
        for (Region &region : op.getRegions())
          visit(region.front());
      if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
        carry(loop);
      else
        sink(&op);
    }
  }

private:
  void sink(Operation *op);
  bool sink(Operation *op, ArrayRef<sdy::ReshardOp> reductions);
  void carry(stablehlo::WhileOp loop);
  bool carry(stablehlo::WhileOp loop, unsigned index);

  double seconds(Value value, const TensorSharding &from, const TensorSharding &to,
                 sharding::ReductionKind kind) {
    auto source = sharding::canonicalLayout(shapeOf(value), from),
         target = sharding::canonicalLayout(shapeOf(value), to);
    source.reduction = target.reduction = kind;
    return planner.plan(shapeOf(value), elementBytes(value), source, target).seconds;
  }
  // The roofline of the op's own work, of which the result is what matters here.
  double computing(Operation *op, const sharding::RuledOp &ruled,
                   const sharding::FactorAxes &axes) {
    double bytes = 2 * elementBytes(op->getResult(0));
    for (int64_t tile : sharding::localShape(
             sharding::canonicalLayout(shapeOf(op->getResult(0)), reduced(axes.resultSharding(0)))))
      bytes *= tile;
    return cost::computeSeconds(planner.getTopology(), planner.getMesh(),
                                flopsOf(op) / axes.shards(), bytes);
  }

  ValueShardings &shardings;
  sharding::ReshardPlanner &planner;
};

// Whether the op rounds what it computes to few bits.
static bool roundsNarrowly(Operation *op) {
  auto type = dyn_cast<ShapedType>(op->getResult(0).getType());
  if (isa<stablehlo::ReduceOp>(op) && type && // nothing to add along dimensions of size 1
      cast<ShapedType>(op->getOperand(0).getType()).getNumElements() == type.getNumElements())
    return false;
  if (!type || !isa<FloatType>(type.getElementType()) || type.getElementTypeBitWidth() > 16)
    return false;
  using sharding::PartialLaw;
  switch (partialLawOf(op)) {
  case PartialLaw::Add:
  case PartialLaw::Subtract:
  case PartialLaw::Multiply:
  case PartialLaw::Divide:
  case PartialLaw::Contract:
  case PartialLaw::Reduce:
    return true;
  default:
    return false;
  }
}

void Deferrer::sink(Operation *op) {
  if (op->getNumResults() != 1 || isa<sdy::ReshardOp>(op) || roundsNarrowly(op))
    return;
  SmallVector<sdy::ReshardOp> reductions;
  bool any = false;
  for (Value operand : op->getOperands()) {
    sdy::ReshardOp reduction = reductionOf(operand, shardings);
    if (reduction && reduction->getBlock() != op->getBlock()) // not into a loop: once each round
      reduction = {};
    if (reduction && !llvm::all_of(operand.getUsers(), [&](Operation *user) { return user == op; }))
      reduction = {};
    reductions.push_back(reduction);
    any |= bool(reduction);
  }
  if (!any || sink(op, reductions))
    return;
  if (reductions.size() == 2 && reductions[0] && reductions[1]) { // a product of two partial values
    if (!sink(op, {reductions[0], sdy::ReshardOp()}))
      sink(op, {sdy::ReshardOp(), reductions[1]});
  }
}

bool Deferrer::sink(Operation *op, ArrayRef<sdy::ReshardOp> reductions) {
  SmallVector<bool> partial;
  sdy::ReshardOp first;
  for (sdy::ReshardOp reduction : reductions) {
    partial.push_back(bool(reduction));
    if (reduction && !first)
      first = reduction;
  }
  const TensorSharding from = shardings.of(first.getInput());
  const AxisRefs unreduced = from.unreduced;
  sharding::ReductionKind kind = shardings.reductionOf(first.getInput());
  for (sdy::ReshardOp reduction : reductions)
    if (reduction && (shardings.of(reduction.getInput()).unreduced != unreduced ||
                      shardings.reductionOf(reduction.getInput()) != kind))
      return false;
  if (!carriesPartial(op, partial, kind))
    return false;
  std::optional<sharding::FactorRule> rule = sdy::getRule(op);
  if (!rule)
    return false;

  // The op on partial operands as they are, the others brought to them.
  sharding::RuledOp ruled;
  ruled.rule = std::move(*rule);
  for (Value operand : op->getOperands())
    ruled.operands.emplace_back(shapeOf(operand));
  Value result = op->getResult(0);
  ruled.results.emplace_back(shapeOf(result));
  TensorSharding resultNow = shardings.of(result);
  if (!resultNow.unreduced.empty())
    return false; // partial already, by its own reduction
  sharding::FactorAxes now(ruled), deferred(ruled);
  now.claimResult(0, resultNow);
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    now.claimOperand(i, shardings.of(operand));
  for (auto [i, reduction] : llvm::enumerate(reductions))
    if (reduction)
      deferred.claimOperand(i, reduced(shardings.of(inputOf(reduction))));
  for (auto [i, reduction] : llvm::enumerate(reductions))
    if (!reduction && !isFree(op->getOperand(i)))
      deferred.claimOperand(i, shardings.of(op->getOperand(i)));
  for (size_t f = 0; f < deferred.size(); ++f)
    if (sharding::overlap(deferred[f], unreduced))
      deferred.release(f);
  TensorSharding resultThen = deferred.resultSharding(0);
  if (!resultThen.unreduced.empty())
    return false; // would mix two reductions
  resultThen.unreduced = unreduced;

  Value last = result; // what is wanted in the end
  if (result.hasOneUse())
    if (auto reshard = dyn_cast<sdy::ReshardOp>(*result.user_begin()))
      last = reshard.getResult();
  TensorSharding wanted = shardings.of(last);
  double before = computing(op, ruled, now), after = computing(op, ruled, deferred);
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    Value operand = op->getOperand(i);
    if (!reduction) {
      if (!isFree(operand))
        after += seconds(operand, shardings.of(operand), deferred.operandSharding(i),
                         sharding::ReductionKind::Sum);
      continue;
    }
    TensorSharding source = shardings.of(inputOf(reduction));
    if (!sharding::sameAxes(reduced(source), deferred.operandSharding(i)))
      return false;
    if (!llvm::is_contained(reductions.take_front(i), reduction)) // add(%a, %a) reduces once
      before += seconds(operand, source, shardings.of(operand), kind);
  }
  before += seconds(result, resultNow, wanted, kind);
  after += seconds(result, resultThen, wanted, kind);
  if (after > before * (1 + 1e-6) + 1e-9)
    return false;

  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    OpOperand &operand = op->getOpOperand(i);
    operand.set(reduction ? inputOf(reduction)
                          : shardings.moved(operand.get(), deferred.operandSharding(i), op));
  }
  setPartialKind(op, kind);
  if (last == result)
    shardings.leave(op->getResult(0), resultThen);
  else // what moves it now also reduces it
    shardings.set(result, resultThen);
  llvm::SmallPtrSet<Operation *, 2> spent;
  for (sdy::ReshardOp reduction : reductions)
    if (reduction && spent.insert(reduction).second && reduction->use_empty())
      reduction->erase();
  return true;
}

void Deferrer::carry(stablehlo::WhileOp loop) {
  for (unsigned index = 0; index < loop->getNumResults(); ++index)
    carry(loop, index);
}

bool Deferrer::carry(stablehlo::WhileOp loop, unsigned index) {
  Block &body = loop.getBody().front();
  BlockArgument argument = body.getArgument(index);
  OpOperand &yield = body.getTerminator()->getOpOperand(index);
  if (!argument.hasOneUse() || !loop.getCond().front().getArgument(index).use_empty())
    return false;
  // Each round: accumulator op reduced contribution.
  Operation *op = *argument.user_begin();
  if (op->getBlock() != &body || op->getNumResults() != 1 || yield.get() != op->getResult(0) ||
      !yield.get().hasOneUse())
    return false;
  sdy::ReshardOp reduction;
  SmallVector<bool> partial;
  for (Value operand : op->getOperands()) {
    sdy::ReshardOp found = operand == argument ? sdy::ReshardOp() : reductionOf(operand, shardings);
    if (found && !found.getResult().hasOneUse())
      found = {};
    if (found && reduction)
      return false;
    if (found)
      reduction = found;
    partial.push_back(found || operand == argument);
  }
  if (!reduction)
    return false;
  TensorSharding source = shardings.of(reduction.getInput());
  sharding::ReductionKind kind = shardings.reductionOf(reduction.getInput());
  // Only where the rounds' contributions are not also scattered: a whole accumulator would take
  // more memory.
  if (!sharding::sameAxes(reduced(source), shardings.of(reduction.getResult())) ||
      !isNeutral(loop->getOperand(index), kind) || !carriesPartial(op, partial, kind))
    return false;

  TensorSharding carried = shardings.of(loop->getResult(index));
  if (llvm::any_of(carried.dims, [&](const sharding::DimSharding &dim) {
        return sharding::overlap(dim.axes, source.unreduced);
      }))
    return false;
  // A loop says once how its partial values are combined.
  for (Value other : loop->getResults())
    if (!shardings.of(other).unreduced.empty() && shardings.reductionOf(other) != kind)
      return false;
  carried.unreduced = source.unreduced;
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == reduction.getResult())
      operand.set(reduction.getInput());
  reduction->erase();
  shardings.set(op->getResult(0), carried);
  setPartialKind(op, kind);
  shardings.leave(loop->getResult(index), carried);
  setPartialKind(loop, kind);
  // The start is neutral: partial as it is.
  OpOperand &start = loop->getOpOperand(index);
  OpBuilder builder(loop);
  auto partialStart = sdy::ReshardOp::create(builder, loop->getLoc(), start.get().getType(),
                                             start.get(), shardings.attr(carried));
  setPartialKind(partialStart, kind);
  start.set(partialStart);
  return true;
}

struct DeferReductions : impl::DeferReductionsBase<DeferReductions> {
  void runOnOperation() override {
    forEachBody(getOperation(),
                [](Block &body, ValueShardings &shardings, sharding::ReshardPlanner &planner) {
                  Deferrer(shardings, planner).visit(body);
                });
  }
};

} // namespace
} // namespace tessera
