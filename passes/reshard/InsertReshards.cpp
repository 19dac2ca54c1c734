// Gives each op the axes by which it is computed at least cost, and makes explicit how operands get
// there and results leave from there. Passes.td shows an example.
#include "dialects/sdy/ShardingRuleOpInterface.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/PlacedOps.h"
#include "passes/reshard/ValueShardings.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {

#define GEN_PASS_DEF_INSERTRESHARDS
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;
using sharding::TensorSharding;

int64_t shards(const TensorSharding &sharding) {
  int64_t count = 1;
  for (const sharding::DimSharding &dim : sharding.dims)
    count *= sharding::shardCount(dim.axes);
  return count;
}

class Inserter {
public:
  Inserter(ValueShardings &shardings, sharding::ReshardPlanner &planner)
      : shardings(shardings), planner(planner) {}

  void visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op);
  }

private:
  void visit(Operation *op);
  void visitRuled(Operation *op, sharding::FactorRule rule);
  void replicateOperands(Operation *op);
  // Says that `operand` is gathered because of what the op is, along `dim` or in all dimensions.
  void remarkGathered(OpOperand &operand, std::optional<size_t> dim);
  void makeResult(OpResult result, const TensorSharding &made, sharding::ReductionKind kind);

  void place(OpOperand &operand, const TensorSharding &sharding,
             sdy::ReductionOp op = sdy::ReductionOp::SUM) {
    operand.set(shardings.moved(operand.get(), sharding, operand.getOwner(), op));
  }
  void place(OpOperand &operand, sdy::TensorShardingAttr attr) {
    place(operand, shardings.of(attr, shapeOf(operand.get()).size()), attr.getReductionOp());
  }
  void placeLike(OpOperand &operand, Value like) {
    place(operand, shardings.of(like), shardings.askedOf(like));
  }
  void placeReturns(Region &region, ValueRange like) {
    for (auto [operand, value] :
         llvm::zip_equal(region.front().getTerminator()->getOpOperands(), like))
      placeLike(operand, value);
  }

  ValueShardings &shardings;
  sharding::ReshardPlanner &planner;
};

void Inserter::remarkGathered(OpOperand &operand, std::optional<size_t> dim) {
  TensorSharding from = shardings.of(operand.get()), to = from;
  for (auto [d, each] : llvm::enumerate(to.dims))
    if (!dim || d == *dim)
      each.axes.clear();
  if (isFree(operand.get()) || sharding::sameAxes(from, to))
    return;
  ArrayRef<int64_t> shape = shapeOf(operand.get());
  const sharding::ReshardPlan &plan =
      planner.plan(shape, elementBytes(operand.get()), sharding::canonicalLayout(shape, from),
                   sharding::canonicalLayout(shape, to));
  Operation *op = operand.getOwner();
  InFlightDiagnostic remark = op->emitRemark("'") << op->getName() << "' needs operand #"
                                                  << operand.getOperandNumber() << " whole";
  if (dim)
    remark << " along dimension " << *dim;
  remark << ": " << operand.get().getType() << " with " << shardings.attr(from)
         << " is gathered, at up to " << int64_t(plan.wireBytes) << " bytes sent by each device; "
         << (dim ? "shard it along another dimension to avoid that"
                 : "give the operation an sdy.sharding_rule to avoid that");
}

void Inserter::replicateOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    place(operand, TensorSharding::replicatedOver(shapeOf(operand.get()).size()));
}

void Inserter::makeResult(OpResult result, const TensorSharding &made,
                          sharding::ReductionKind kind) {
  TensorSharding wanted = shardings.of(result);
  // A plain `unreduced` is content with any kind; a maximum that is asked for is no sum.
  sdy::ReductionOp asked = shardings.askedOf(result);
  bool isAlike =
      made.unreduced.empty() || asked == sdy::ReductionOp::SUM || sdy::toKind(asked) == kind;
  if (!sharding::sameAxes(made, wanted) || !isAlike)
    shardings.leave(result, made);
  if (!made.unreduced.empty())
    setPartialKind(result.getOwner(), kind);
}

void Inserter::visitRuled(Operation *op, sharding::FactorRule rule) {
  const sharding::PlacedOp placed = placedOp(op, std::move(rule), shardings);
  sharding::FactorChoice choice = sharding::chooseFactorAxes(placed, planner);
  for (OpOperand &operand : op->getOpOperands()) {
    const sharding::TensorFactors &factors = placed.op.rule.operands[operand.getOperandNumber()];
    bool gathered = shards(choice.axes.operandSharding(operand.getOperandNumber())) <
                    shards(shardings.of(operand.get()));
    for (auto [dim, dimFactors] : llvm::enumerate(factors))
      if (gathered && llvm::any_of(dimFactors, [&](int32_t f) {
            return placed.op.rule.factors[f].kind == sharding::FactorKind::NeedReplication &&
                   placed.op.rule.factors[f].size > 1;
          }))
        remarkGathered(operand, dim);
    place(operand, choice.axes.operandSharding(operand.getOperandNumber()));
  }
  for (OpResult result : op->getResults())
    makeResult(result, choice.axes.resultSharding(result.getResultNumber()),
               choice.axes.reduction());
}

void Inserter::visit(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](sdy::ShardingConstraintOp constraint) {
        constraint.getResult().replaceAllUsesWith(
            shardings.moved(constraint.getInput(), shardings.of(constraint.getResult()), op,
                            constraint.getSharding().getReductionOp()));
        op->erase();
      })
      .Case([&](sdy::ReshardOp) {})
      .Case<sdy::PropagationBarrierOp, sdy::DataFlowEdgeOp>([&](auto edge) {
        edge.getResult().replaceAllUsesWith(edge.getInput());
        op->erase();
      })
      .Case([&](sdy::ShardingGroupOp) { op->erase(); })
      .Case([&](sdy::ManualComputationOp manual) {
        for (auto [operand, in] :
             llvm::zip_equal(op->getOpOperands(), manual.getInShardings().getShardings()))
          place(operand, in);
        Block &body = manual.getBody().front();
        visit(body);
        for (auto [operand, out] : llvm::zip_equal(body.getTerminator()->getOpOperands(),
                                                   manual.getOutShardings().getShardings()))
          place(operand, sdy::insideManual(out, manual.getManualAxes()));
      })
      .Case([&](sdy::NamedComputationOp named) {
        for (auto [operand, argument] :
             llvm::zip_equal(op->getOpOperands(), named.getBody().getArguments()))
          placeLike(operand, argument);
        visit(named.getBody().front());
        placeReturns(named.getBody(), op->getResults());
      })
      .Case([&](stablehlo::WhileOp loop) {
        for (auto [operand, result] : llvm::zip_equal(op->getOpOperands(), op->getResults()))
          placeLike(operand, result);
        visit(loop.getCond().front());
        replicateOperands(loop.getCond().front().getTerminator());
        visit(loop.getBody().front());
        placeReturns(loop.getBody(), op->getResults());
      })
      .Case<stablehlo::IfOp, stablehlo::CaseOp>([&](auto) {
        replicateOperands(op);
        for (Region &region : op->getRegions()) {
          visit(region.front());
          placeReturns(region, op->getResults());
        }
      })
      .Case([&](func::ReturnOp) {
        auto function = op->getParentOfType<func::FuncOp>();
        for (OpOperand &operand : op->getOpOperands()) {
          TensorSharding wanted = shardings.of(operand.get());
          wanted.unreduced.clear();
          if (auto attr = function.getResultAttrOfType<sdy::TensorShardingAttr>(
                  operand.getOperandNumber(), sdy::kShardingAttr))
            wanted = shardings.of(attr, wanted.dims.size());
          place(operand, wanted);
        }
      })
      .Default([&](Operation *) {
        if (op->hasTrait<OpTrait::IsTerminator>() || op->hasTrait<OpTrait::ConstantLike>())
          return; // a terminator's operands are placed by the op that holds it
        if (std::optional<sharding::FactorRule> rule = sdy::getRule(op))
          return visitRuled(op, std::move(*rule));
        for (OpOperand &operand : op->getOpOperands())
          remarkGathered(operand, std::nullopt);
        replicateOperands(op);
        for (OpResult result : op->getResults())
          if (isa<RankedTensorType>(result.getType()))
            makeResult(result, TensorSharding::replicatedOver(shapeOf(result).size()),
                       sharding::ReductionKind::Sum);
      });
}

struct InsertReshards : impl::InsertReshardsBase<InsertReshards> {
  void runOnOperation() override {
    forEachBody(getOperation(),
                [](Block &body, ValueShardings &shardings, sharding::ReshardPlanner &planner) {
                  Inserter(shardings, planner).visit(body);
                });
  }
};

} // namespace
} // namespace tessera
