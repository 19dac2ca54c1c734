// On one device a sharding constraint says nothing:
//
//   sdy.mesh @mesh = <["data"=1, "model"=1]>
//   %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}]>       uses of %1 use %0
//
// Gone before other passes look at what a value is computed from, it can't keep them from anything
// (XLA drops it first, too).
#include "passes/import/Passes.h"

#include "dialects/sdy/SdyOps.h"
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

namespace {
struct DropConstraints : impl::DropConstraintsBase<DropConstraints> {
  void runOnOperation() override {
    if (!llvm::all_of(getOperation().getOps<sdy::MeshOp>(), hasOneDevice))
      return;
    getOperation().walk([](sdy::ShardingConstraintOp op) {
      op.getResult().replaceAllUsesWith(op->getOperand(0));
      op.erase();
    });
  }
};
} // namespace
} // namespace tessera
