// What the reshard phase promises to localize, or an error at the op that breaks it:
//   - operands and results of an op with a sharding rule agree on the axes of each factor
//   (lib/sharding/FactorAxes.h);
//     operands and results of other ops are whole;
//   - a partial operand goes into an op that commutes with its reduction, whose result is partial
//   in the same way; a
//     result is partial over the axes of the reduction factors besides;
//   - carried values, branch results, function results and what enters a manual computation lie as
//   annotated;
//   - what the program is given is whole.
#include "dialects/sdy/ModuleShardings.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "lib/sharding/FactorAxes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/reshard/PartialOperands.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/ValuePlaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {

#define GEN_PASS_DEF_VERIFYRESHARD
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;
using sharding::TensorSharding;

class Verifier {
public:
  explicit Verifier(const ValuePlaces &places) : places(places) {}

  LogicalResult verify(Operation *op);

private:
  LogicalResult verifyRuled(Operation *op, sharding::FactorRule rule);
  LogicalResult lies(OpOperand &operand, const TensorSharding &expected) {
    if (sharding::sameAxes(places.of(operand.get()), expected))
      return success();
    return operand.getOwner()->emitOpError()
           << "operand #" << operand.getOperandNumber() << " is sharded "
           << places.attr(places.of(operand.get())) << " where " << places.attr(expected)
           << " is needed; move it there by sdy.reshard";
  }
  LogicalResult lieLike(Operation *user, ValueRange like) {
    for (auto [operand, value] : llvm::zip_equal(user->getOpOperands(), like)) {
      TensorSharding expected = places.of(value);
      if (failed(lies(operand, expected)))
        return failure();
      if (!expected.unreduced.empty() &&
          places.reductionOf(operand.get()) != places.reductionOf(value))
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

  const ValuePlaces &places;
};

LogicalResult Verifier::verifyRuled(Operation *op, sharding::FactorRule rule) {
  sharding::RuledOp ruled{std::move(rule), {}, {}};
  for (Value operand : op->getOperands())
    ruled.operands.emplace_back(shapeOf(operand));
  for (Value result : op->getResults())
    ruled.results.emplace_back(shapeOf(result));
  sharding::FactorAxes axes(ruled);
  for (OpResult result : op->getResults())
    axes.claimResult(result.getResultNumber(), places.of(result));
  for (OpOperand &operand : op->getOpOperands())
    axes.claimOperand(operand.getOperandNumber(), places.of(operand.get()));

  SmallVector<bool> partial;
  sharding::AxisRefs carried;
  sharding::ReductionKind kind = sharding::ReductionKind::Sum;
  for (OpOperand &operand : op->getOpOperands()) {
    TensorSharding expected = axes.operandSharding(operand.getOperandNumber());
    expected.unreduced = places.of(operand.get()).unreduced;
    if (failed(lies(operand, expected)))
      return failure();
    partial.push_back(!expected.unreduced.empty());
    if (expected.unreduced.empty())
      continue;
    carried = expected.unreduced;
    kind = places.reductionOf(operand.get());
  }
  if (!carried.empty() && !carriesPartial(op, partial, kind))
    return op->emitOpError() << "does not commute with the reduction of its partial operand; "
                                "reduce it by sdy.reshard";
  for (OpResult result : op->getResults()) {
    TensorSharding expected = axes.resultSharding(result.getResultNumber());
    TensorSharding found = places.of(result);
    if (op->getNumResults() == 1)
      expected.unreduced.append(carried);
    else if (expected.unreduced.empty() && result.getResultNumber() < op->getNumOperands())
      expected.unreduced = places.of(op->getOperand(result.getResultNumber())).unreduced;
    if (!sharding::sameAxes(found, expected))
      return op->emitOpError() << "result #" << result.getResultNumber() << " is sharded "
                               << places.attr(found) << " where its operands make it "
                               << places.attr(expected)
                               << "; annotate that, and move it on by sdy.reshard";
  }
  return success();
}

LogicalResult Verifier::verify(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](sdy::ShardingConstraintOp) {
        return op->emitOpError("should have become an sdy.reshard");
      })
      .Case([&](sdy::ManualComputationOp manual) {
        for (auto [operand, in] :
             llvm::zip_equal(op->getOpOperands(), manual.getInShardings().getShardings()))
          if (failed(lies(operand, places.of(in, shapeOf(operand.get()).size()))))
            return failure();
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
          TensorSharding expected = places.of(operand.get());
          expected.unreduced.clear();
          if (auto attr = function.getResultAttrOfType<sdy::TensorShardingAttr>(
                  operand.getOperandNumber(), sdy::kShardingAttr))
            expected = places.of(attr, expected.dims.size());
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
    if (failed(sdy::verifyShardings(getOperation())))
      return signalPassFailure();
    sdy::MeshTable meshes(getOperation());
    if (!meshes.main())
      return;
    ValuePlaces places(*meshes.main(), &getContext());
    Verifier verifier(places);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      for (BlockArgument argument : function.getArguments())
        if (function.isPublic() && !places.of(argument).unreduced.empty()) {
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
