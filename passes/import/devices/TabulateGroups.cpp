// Writes the groups of a collective that are given by mesh axes as the table of their devices.
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/ReplicaGroups.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {
#define GEN_PASS_DEF_TABULATEGROUPS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

stablehlo::MeshAttr meshOf(sdy::MeshAttr mesh) {
  MLIRContext *context = mesh.getContext();
  SmallVector<stablehlo::MeshAxisAttr> axes;
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    axes.push_back(stablehlo::MeshAxisAttr::get(context, axis.getName(), axis.getSize()));
  DenseIntElementsAttr devices;
  if (ArrayRef<int64_t> ids = mesh.getDeviceIds(); !ids.empty())
    devices = DenseIntElementsAttr::get(
        RankedTensorType::get(ids.size(), IntegerType::get(context, 64)), ids);
  return stablehlo::MeshAttr::get(context, axes, devices);
}

LogicalResult tabulate(Operation *op, stablehlo::ReplicaGroupMeshAxesAttr groups,
                       SymbolTable &symbols) {
  auto mesh = dyn_cast<stablehlo::MeshAttr>(groups.getMesh());
  if (!mesh) {
    StringAttr name = cast<FlatSymbolRefAttr>(groups.getMesh()).getAttr();
    auto symbol = symbols.lookup<sdy::MeshOp>(name);
    if (!symbol)
      return op->emitError() << "names mesh @" << name.getValue() << ", which the module lacks";
    mesh = meshOf(symbol.getMesh());
    auto error = [&] { return op->emitError() << "has replica_groups in which "; };
    if (failed(stablehlo::ReplicaGroupMeshAxesAttr::verify(error, mesh, groups.getAxes())))
      return failure();
  }
  SmallVector<stablehlo::AxisRefAttr> axes;
  for (Attribute axis : groups.getAxes())
    axes.push_back(cast<stablehlo::AxisRefAttr>(axis));
  FailureOr<DenseIntElementsAttr> table = stablehlo::groupTable(mesh, axes);
  if (failed(table))
    return op->emitError() << "has replica_groups along axes that the mesh lacks, or that overlap: "
                           << groups;
  op->setAttr("replica_groups", *table);
  return success();
}

struct TabulateGroupsPass : impl::TabulateGroupsBase<TabulateGroupsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    WalkResult walked = getOperation().walk([&](Operation *op) {
      if (!isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()) ||
          !op->getPropertiesStorage())
        return WalkResult::advance();
      auto groups = dyn_cast_or_null<stablehlo::ReplicaGroupMeshAxesAttr>(
          op->getInherentAttr("replica_groups").value_or(Attribute()));
      return groups && failed(tabulate(op, groups, symbols)) ? WalkResult::interrupt()
                                                             : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tessera
