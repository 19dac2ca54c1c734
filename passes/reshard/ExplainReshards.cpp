// Says of every reshard what it moves, as a remark at the user's location; for reading, changes
// nothing. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "passes/reshard/Movement.h"
#include "passes/reshard/Passes.h"

namespace tessera {

#define GEN_PASS_DEF_EXPLAINRESHARDS
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;

struct ExplainReshards : impl::ExplainReshardsBase<ExplainReshards> {
  void runOnOperation() override {
    sdy::MeshTable meshes(getOperation());
    if (!meshes.main())
      return;
    cost::Topology topology = topologyOf(getOperation());
    sharding::ReshardPlanner planner(*meshes.main(), topology);
    ValueShardings shardings(*meshes.main(), &getContext());
    double total = 0;
    getOperation().walk([&](sdy::ReshardOp op) {
      const sharding::ReshardPlan &plan = planOf(op, shardings, planner);
      if (plan.wireBytes == 0)
        return;
      int64_t trips = tripsAround(op);
      total += plan.wireBytes * double(trips);
      InFlightDiagnostic remark = op.emitRemark("reshard ");
      remark << sdy::getSharding(op.getInput()) << " -> " << op.getSharding() << " : "
             << op.getType() << ": " << stepsText(plan) << ", " << int64_t(plan.wireBytes)
             << " wire bytes, " << trips << " trips";
    });
    getOperation().emitRemark("reshards send ") << int64_t(total) << " wire bytes in all";
  }
};

} // namespace
} // namespace tessera
