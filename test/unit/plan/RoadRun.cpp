#include "RoadRun.h"

#include "compiler/Phases.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "lib/plan/Memory.h"
#include "passes/package/StepWork.h"
#include "passes/propagate/Passes.h"
#include "passes/reshard/Movement.h"
#include "passes/reshard/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace tessera::plan {

using namespace mlir;

namespace {

// So that the propagation graph knows the mesh: the first argument may lie anyhow.
OwningOpRef<ModuleOp> withMesh(ModuleOp module) {
  OwningOpRef<ModuleOp> source = module.clone();
  sdy::MeshTable meshes(*source);
  if (!meshes.main())
    return source;
  for (auto function : source->getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    for (BlockArgument argument : function.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType())) {
        sharding::TensorSharding open = sharding::TensorSharding::replicatedOver(type.getRank());
        for (sharding::DimSharding &dim : open.dims)
          dim.closed = false;
        sdy::setSharding(argument, sdy::toAttr(module.getContext(), *meshes.main(), open));
        return source;
      }
  }
  return source;
}

} // namespace

RoadRun::RoadRun(ModuleOp module)
    : source(withMesh(module)), program(source.get()), machine(topologyOf(module)) {
  if (isValid())
    prices = std::make_unique<AssignmentPrices>(data(), mesh(), machine);
}

double RoadRun::modelPeak(const Assignment &assignment) const {
  prices->seconds(assignment);
  return prices->peakBytes(assignment);
}

OwningOpRef<ModuleOp> RoadRun::sharded(const Assignment &assignment) const {
  OwningOpRef<ModuleOp> trial = source.get().clone();
  PassManager before(trial->getContext());
  before.addPass(createNormalizeShardings());
  before.addPass(createSplitConstants());
  before.addPass(createApplyConstraints());
  if (failed(before.run(*trial)))
    return {};
  ModuleGraph graph(*trial);
  if (graph.graph.values.size() != assignment.size())
    return {};
  for (size_t v = 0; v < assignment.size(); ++v) {
    graph.graph.values[v].sharding = assignment[v];
    graph.graph.values[v].mesh = 0;
  }
  graph.writeBack();
  PassManager after(trial->getContext());
  after.addPass(createFinalizeShardings());
  after.addPass(createMergeConstants());
  if (failed(after.run(*trial)))
    return {};
  return trial;
}

std::optional<double> RoadRun::reshardSeconds(const Assignment &assignment) const {
  OwningOpRef<ModuleOp> trial = sharded(assignment);
  if (!trial)
    return std::nullopt;
  PassManager passes(trial->getContext());
  buildReshardPipeline(passes);
  if (failed(passes.run(*trial)))
    return std::nullopt;
  return movementOf(*trial).seconds;
}

std::optional<RoadRun::Step> RoadRun::step(const Assignment &assignment) const {
  OwningOpRef<ModuleOp> trial = sharded(assignment);
  if (!trial)
    return std::nullopt;
  cost::ScheduleOptions schedule = scheduleOf(*trial);
  schedule.overlap = cost::Overlap::Off;
  setSchedule(*trial, schedule);
  PassManager passes(trial->getContext());
  passes.enableVerifier(false); // the phases verify themselves
  bool isBehind = false;
  for (const Phase &phase : phases()) {
    if (isBehind && phase.name != "codegen" && phase.name != "package")
      phase.build(passes);
    isBehind |= phase.name == "propagate";
  }
  if (failed(passes.run(*trial)))
    return std::nullopt;
  ModulePrediction predicted = predictModule(*trial);
  return Step{predicted.time.seconds, predicted.time.compute, predicted.time.communication,
              double(predicted.memory.total())};
}

} // namespace tessera::plan
