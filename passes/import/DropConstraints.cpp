// On one device a sharding constraint says nothing. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {
#define GEN_PASS_DEF_DROPCONSTRAINTS
#include "passes/import/Passes.h.inc"

using namespace mlir;

static bool hasOneDevice(sdy::MeshOp mesh) {
  return llvm::all_of(mesh.getMesh().getAxes(),
                      [](sdy::MeshAxisAttr axis) { return axis.getSize() == 1; }) &&
         mesh.getMesh().getDeviceIds().empty();
}

static bool isInComputation(Operation *op) {
  Operation *parent = op->getParentOp();
  return isa_and_present<stablehlo::StablehloDialect>(parent->getDialect()) &&
         !isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(parent);
}

namespace {
struct DropConstraints : impl::DropConstraintsBase<DropConstraints> {
  void runOnOperation() override {
    bool oneDevice = llvm::all_of(getOperation().getOps<sdy::MeshOp>(), hasOneDevice);
    getOperation().walk([&](sdy::ShardingConstraintOp op) {
      if (!oneDevice && !isInComputation(op))
        return;
      op.getResult().replaceAllUsesWith(op->getOperand(0));
      op.erase();
    });
  }
};
} // namespace
} // namespace tessera
