// What later phases rely on: every tensor has a sharding on a mesh of the module, with closed
// dimensions, none at the program's boundary is unreduced, and nothing is left that only speaks to
// propagation.
#include "dialects/sdy/DataFlow.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/KnownAttributes.h"
#include "passes/propagate/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tessera {
#define GEN_PASS_DEF_VERIFYPROPAGATE
#include "passes/propagate/Passes.h.inc"

using namespace mlir;
using namespace tessera::sdy;

namespace {

constexpr StringLiteral kMend = "; run --tessera-propagate";

LogicalResult check(TensorShardingAttr sharding, Type type,
                    function_ref<InFlightDiagnostic()> error) {
  if (!isa<RankedTensorType>(type))
    return success();
  if (!sharding)
    return error() << "has no sharding" << kMend;
  if (llvm::any_of(sharding.getDimShardings(),
                   [](DimensionShardingAttr dim) { return !dim.getIsClosed(); }))
    return error() << "has a sharding with open dimensions" << kMend;
  return success();
}

LogicalResult checkFunction(FunctionOpInterface function) {
  auto checkBoundary = [&](TensorShardingAttr sharding, Type type,
                           function_ref<InFlightDiagnostic()> error) -> LogicalResult {
    if (function.isPublic() && sharding && !sharding.getUnreducedAxes().empty())
      return error() << "is unreduced; a program takes and returns whole values" << kMend;
    return check(sharding, type, error);
  };
  auto at = [&](StringRef what, unsigned i) {
    return [&, what, i] {
      return function.emitError() << what << " " << i << " of @" << function.getName() << " ";
    };
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(checkBoundary(function.getArgAttrOfType<TensorShardingAttr>(i, kShardingAttr), type,
                             at("argument", i))))
      return failure();
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(checkBoundary(function.getResultAttrOfType<TensorShardingAttr>(i, kShardingAttr),
                             type, at("result", i))))
      return failure();
  return success();
}

WalkResult checkOp(Operation *op) {
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    return WalkResult(checkFunction(function));
  if (isa<func::CallOp>(op))
    return op->emitOpError() << "is not propagated through; run --tessera-inline-calls before";
  if (isa<ShardingConstraintOp, ShardingGroupOp, PropagationBarrierOp, DataFlowEdgeOp>(op) ||
      (isa<SdyDialect>(op->getDialect()) && op->hasAttr("out_sharding")))
    return op->emitOpError() << "is left after propagation" << kMend;
  for (OpResult result : op->getResults())
    if (failed(check(getSharding(result), result.getType(), [&] {
          return op->emitOpError() << "result " << result.getResultNumber() << " ";
        })))
      return WalkResult::interrupt();
  return holdsProgram(op) ? WalkResult::advance() : WalkResult::skip();
}

struct VerifyPropagate : impl::VerifyPropagateBase<VerifyPropagate> {
  using VerifyPropagateBase::VerifyPropagateBase;

  void runOnOperation() override {
    if (!withForeignAttributes && failed(verifyAttributes(getOperation())))
      return signalPassFailure();
    if (getOperation()->walk<WalkOrder::PreOrder>(checkOp).wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tessera
