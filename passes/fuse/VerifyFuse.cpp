// What later phases rely on: outside exec.fused there are no compute ops, only control flow,
// collectives, views (reshape) and constants; inside there is StableHLO without control flow, and
// in-place operands are arrays that exist.
#include "dialects/comm/CommOps.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/KnownAttributes.h"
#include "passes/fuse/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {
#define GEN_PASS_DEF_VERIFYFUSE
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

static WalkResult check(Operation *op) {
  if (auto fused = dyn_cast<exec::FusedOp>(op)) {
    for (Operation &inner : fused.getBlock()->without_terminator())
      if (fusionKindOf(&inner) == fusion::NodeKind::Outside && !isa<ConstantOp>(inner))
        return inner.emitOpError("cannot be part of a kernel");
    return WalkResult::skip();
  }
  if (isa<func::FuncOp, func::ReturnOp, ReturnOp, WhileOp, IfOp, CaseOp, ReshapeOp, ConstantOp,
          ModuleOp>(op) ||
      isa<comm::CommDialect>(op->getDialect()) || op->getDialect()->getNamespace() == "sdy")
    return WalkResult::advance();
  return op->emitOpError("is outside any kernel after the fuse phase; run --tessera-form-kernels");
}

namespace {
struct VerifyFuse : impl::VerifyFuseBase<VerifyFuse> {
  void runOnOperation() override {
    if (failed(verifyAttributes(getOperation())))
      return signalPassFailure();
    if (getOperation()->walk<WalkOrder::PreOrder>(check).wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
} // namespace tessera
