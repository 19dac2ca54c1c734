// What communicate leaves: every collective names axes that the mesh has, with its sizes, and more
// than one device. Passes.td shows an example.
#include "passes/communicate/Passes.h"

#include "dialects/comm/Collective.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/KnownAttributes.h"

namespace tessera {
#define GEN_PASS_DEF_VERIFYCOMMUNICATE
#include "passes/communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::communicate {
namespace {

LogicalResult verifyAxes(Operation *op, comm::AxesAttr axes, const sdy::MeshTable &meshes) {
  const sharding::Mesh *mesh = meshes.lookup(axes.getMesh().getValue());
  if (!mesh)
    return op->emitError() << "there is no mesh " << axes.getMesh();
  for (comm::AxisAttr axis : axes.getAxes()) {
    int32_t index = mesh->axisIndex(axis.getName());
    if (index < 0)
      return op->emitError() << "mesh @" << mesh->name << " has no axis \"" << axis.getName()
                             << "\"";
    int64_t size = mesh->axes[index].size;
    if (axis.getWhole() ? axis.getSize() != size : size % (axis.getPreSize() * axis.getSize()) != 0)
      return op->emitError() << "axis \"" << axis.getName() << "\" of mesh @" << mesh->name
                             << " has size " << size
                             << "; this collective was made for another size";
  }
  return success();
}

struct VerifyCommunicate : impl::VerifyCommunicateBase<VerifyCommunicate> {
  void runOnOperation() override {
    if (failed(verifyAttributes(getOperation())))
      return signalPassFailure();
    sdy::MeshTable meshes(getOperation());
    WalkResult walked = getOperation().walk([&](Operation *op) -> WalkResult {
      if (!isa_and_nonnull<comm::CommDialect>(op->getDialect()))
        return WalkResult::advance();
      std::optional<Attribute> axes = op->getInherentAttr("axes");
      if (axes && failed(verifyAxes(op, cast<comm::AxesAttr>(*axes), meshes)))
        return WalkResult::interrupt();
      std::optional<comm::CollectiveFacts> facts = comm::collectiveFacts(op);
      if (facts && facts->groupSize < 2 && !isa<comm::PermuteOp, comm::ShiftOp>(op)) {
        op->emitError("is over one device only: the operand is the result");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tessera::communicate
