// What the reshard phase promises to localize, or an error at the op that breaks it.
//
// FactorAxes.h in lib/sharding says which axes agree. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/KnownAttributes.h"
#include "lib/sharding/FactorAxes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/reshard/PartialOperands.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/ValueShardings.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {

#define GEN_PASS_DEF_VERIFYRESHARD
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;
using sharding::TensorSharding;

class Verifier {
public:
  explicit Verifier(const ValueShardings &shardings) : shardings(shardings) {}

  LogicalResult verify(Operation *op);

private:
  LogicalResult verifyRuled(Operation *op, sharding::FactorRule rule);
  LogicalResult lies(OpOperand &operand, const TensorSharding &expected) {
    if (sharding::sameAxes(shardings.of(operand.get()), expected))
      return success();
    return operand.getOwner()->emitOpError()
           << "operand #" << operand.getOperandNumber() << " is sharded "
           << shardings.attr(shardings.of(operand.get())) << " where " << shardings.attr(expected)
           << " is needed; move it there by sdy.reshard";
  }
  LogicalResult lieLike(Operation *user, ValueRange like) {
    for (auto [operand, value] : llvm::zip_equal(user->getOpOperands(), like)) {
      TensorSharding expected = shardings.of(value);
      if (failed(lies(operand, expected)))
        return failure();
      if (!expected.unreduced.empty() &&
          shardings.reductionOf(operand.get()) != shardings.reductionOf(value))
        return user->emitOpError() << "operand #" << operand.getOperandNumber()
                                   << " is combined otherwise than the value that it becomes";
    }
    return success();
  }
  LogicalResult whole(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (failed(lies(operand, TensorSharding::replicatedOver(shapeOf(operand.get()).size()))))
        return failure();
    return success();
  }

  const ValueShardings &shardings;
};

LogicalResult Verifier::verifyRuled(Operation *op, sharding::FactorRule rule) {
  sharding::RuledOp ruled{std::move(rule), {}, {}};
  for (Value operand : op->getOperands())
    ruled.operands.emplace_back(shapeOf(operand));
  for (Value result : op->getResults())
    ruled.results.emplace_back(shapeOf(result));
  sharding::FactorAxes axes(ruled);
  for (OpResult result : op->getResults())
    axes.claimResult(result.getResultNumber(), shardings.of(result));
  for (OpOperand &operand : op->getOpOperands())
    axes.claimOperand(operand.getOperandNumber(), shardings.of(operand.get()));

  SmallVector<bool> partial;
  sharding::AxisRefs carried;
  sharding::ReductionKind kind = sharding::ReductionKind::Sum;
  for (OpOperand &operand : op->getOpOperands()) {
    TensorSharding expected = axes.operandSharding(operand.getOperandNumber());
    expected.unreduced = shardings.of(operand.get()).unreduced;
    if (failed(lies(operand, expected)))
      return failure();
    partial.push_back(!expected.unreduced.empty());
    if (expected.unreduced.empty())
      continue;
    carried = expected.unreduced;
    kind = shardings.reductionOf(operand.get());
  }
  if (!carried.empty() && !carriesPartial(op, partial, kind))
    return op->emitOpError() << "does not commute with the reduction of its partial operand; "
                                "reduce it by sdy.reshard";
  for (OpResult result : op->getResults()) {
    TensorSharding expected = axes.resultSharding(result.getResultNumber());
    TensorSharding found = shardings.of(result);
    if (op->getNumResults() == 1)
      expected.unreduced.append(carried);
    else if (expected.unreduced.empty() && result.getResultNumber() < op->getNumOperands())
      expected.unreduced = shardings.of(op->getOperand(result.getResultNumber())).unreduced;
    if (!sharding::sameAxes(found, expected))
      return op->emitOpError() << "result #" << result.getResultNumber() << " is sharded "
                               << shardings.attr(found) << " where its operands make it "
                               << shardings.attr(expected)
                               << "; annotate that, and move it on by sdy.reshard";
  }
  return success();
}

LogicalResult Verifier::verify(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](sdy::ShardingConstraintOp) {
        return op->emitOpError("should have become an sdy.reshard");
      })
      .Case([&](sdy::ManualComputationOp manual) -> LogicalResult {
        for (auto [operand, in] :
             llvm::zip_equal(op->getOpOperands(), manual.getInShardings().getShardings()))
          if (failed(lies(operand, shardings.of(in, shapeOf(operand.get()).size()))))
            return failure();
          else if (!in.getUnreducedAxes().empty() &&
                   shardings.reductionOf(operand.get()) != sdy::toKind(in.getReductionOp()))
            return op->emitOpError() << "operand #" << operand.getOperandNumber()
                                     << " is combined otherwise than the parts that are taken";
        return success();
      })
      .Case([&](stablehlo::WhileOp loop) {
        return failure(failed(lieLike(op, op->getResults())) ||
                       failed(whole(loop.getCond().front().getTerminator())) ||
                       failed(lieLike(loop.getBody().front().getTerminator(), op->getResults())));
      })
      .Case<stablehlo::IfOp, stablehlo::CaseOp>([&](auto) {
        for (Region &region : op->getRegions())
          if (failed(lieLike(region.front().getTerminator(), op->getResults())))
            return failure();
        return whole(op);
      })
      .Case([&](func::ReturnOp) {
        auto function = op->getParentOfType<func::FuncOp>();
        for (OpOperand &operand : op->getOpOperands()) {
          TensorSharding expected = shardings.of(operand.get());
          expected.unreduced.clear();
          if (auto attr = function.getResultAttrOfType<sdy::TensorShardingAttr>(
                  operand.getOperandNumber(), sdy::kShardingAttr))
            expected = shardings.of(attr, expected.dims.size());
          if (failed(lies(operand, expected)))
            return failure();
        }
        return success();
      })
      .Default([&](Operation *) -> LogicalResult {
        if (op->hasTrait<OpTrait::IsTerminator>() || op->hasTrait<OpTrait::ConstantLike>() ||
            isa_and_present<sdy::SdyDialect>(op->getDialect()) || op->getNumResults() == 0)
          return success();
        if (std::optional<sharding::FactorRule> rule = sdy::getRule(op))
          return verifyRuled(op, std::move(*rule));
        return whole(op);
      });
}

struct VerifyReshard : impl::VerifyReshardBase<VerifyReshard> {
  void runOnOperation() override {
    if (failed(verifyAttributes(getOperation())))
      return signalPassFailure();
    sdy::MeshTable meshes(getOperation());
    if (!meshes.main())
      return;
    ValueShardings shardings(*meshes.main(), &getContext());
    Verifier verifier(shardings);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      for (BlockArgument argument : function.getArguments())
        if (function.isPublic() && !shardings.of(argument).unreduced.empty()) {
          function.emitError() << "argument " << argument.getArgNumber()
                               << " is unreduced, but a program takes whole values";
          return signalPassFailure();
        }
      // Reducers and the like compute on elements: nothing in them is sharded.
      auto result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (op == function)
          return WalkResult::advance();
        if (failed(verifier.verify(op)))
          return WalkResult::interrupt();
        bool global = isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp,
                          sdy::ManualComputationOp, sdy::NamedComputationOp>(op);
        return global ? WalkResult::advance() : WalkResult::skip();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace tessera
