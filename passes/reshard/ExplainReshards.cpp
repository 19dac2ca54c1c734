// Says of every reshard what it moves, as a remark at the user's location; for reading, changes
// nothing.
//
//   model.py:12:8: remark: reshard [{"x"}, {}] -> [{}, {}] : tensor<64x32xf32>: all-gather, 3072
//   wire bytes, 12 trips
// and of the module the sum. Rows that cross shards inside of an op (halos) are not in it.
#include "dialects/stablehlo/StablehloOps.h"
#include "lib/cost/TopologyAttr.h"
#include "lib/sharding/ReshardSearch.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/ValuePlaces.h"

namespace tessera {

#define GEN_PASS_DEF_EXPLAINRESHARDS
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;

llvm::StringRef nameOf(sharding::ReshardKind kind) {
  switch (kind) {
  case sharding::ReshardKind::AllGather:
    return "all-gather";
  case sharding::ReshardKind::Slice:
    return "slice";
  case sharding::ReshardKind::AllToAll:
    return "all-to-all";
  case sharding::ReshardKind::Permute:
    return "permute";
  case sharding::ReshardKind::AllReduce:
    return "all-reduce";
  case sharding::ReshardKind::ReduceScatter:
    return "reduce-scatter";
  case sharding::ReshardKind::Broadcast:
    return "broadcast";
  case sharding::ReshardKind::Retile:
    return "retile";
  }
  return "";
}

struct ExplainReshards : impl::ExplainReshardsBase<ExplainReshards> {
  void runOnOperation() override {
    sdy::MeshTable meshes(getOperation());
    if (!meshes.main())
      return;
    cost::Topology topology = cost::topologyOf(getOperation());
    sharding::ReshardPlanner planner(*meshes.main(), topology);
    ValuePlaces places(*meshes.main(), &getContext());
    double total = 0;
    getOperation().walk([&](sdy::ReshardOp op) {
      ArrayRef<int64_t> shape = shapeOf(op.getInput());
      auto from = sharding::canonicalLayout(shape, places.of(op.getInput()));
      auto to = sharding::canonicalLayout(shape, places.of(op.getResult()));
      from.reduction = to.reduction = places.reductionOf(op.getInput());
      const sharding::ReshardPlan &plan =
          planner.plan(shape, elementBytes(op.getInput()), from, to);
      if (plan.wireBytes == 0)
        return;
      int64_t trips = tripsOf(op);
      total += plan.wireBytes * double(trips);
      InFlightDiagnostic remark = op.emitRemark("reshard ");
      remark << sdy::getSharding(op.getInput()) << " -> " << op.getSharding() << " : "
             << op.getType() << ":";
      for (const sharding::ReshardStep &step : plan.steps)
        remark << " " << nameOf(step.kind) << ",";
      remark << " " << int64_t(plan.wireBytes) << " wire bytes, " << trips << " trips";
    });
    getOperation().emitRemark("reshards send ") << int64_t(total) << " wire bytes in all";
  }
};

} // namespace
} // namespace tessera
