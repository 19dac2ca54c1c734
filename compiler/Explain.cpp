// explain: the road up to buffers, with notes on the way. Ops are numbered after import and after
// reshard, in their locations, so that a collective at the end finds its cause.
#include "compiler/Explain.h"

#include "compiler/DeepStack.h"
#include "compiler/Entry.h"
#include "compiler/ExplainModule.h"
#include "compiler/ExplainRemedies.h"
#include "compiler/Road.h"
#include "compiler/SourcePlaces.h"
#include "dialects/comm/CommOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "passes/package/Figures.h"
#include "passes/propagate/Origins.h"

namespace tessera {

using namespace mlir;

namespace {

constexpr int kTrials = 16; // annotations that are tried, each one propagation and reshard
constexpr int kListed = 8;  // collectives for which they are tried

std::string meshText(const sharding::Mesh *mesh) {
  if (!mesh)
    return "no mesh";
  std::string text = "mesh @" + mesh->name + ":";
  for (auto [i, axis] : llvm::enumerate(mesh->axes))
    text += (i ? ", " : " ") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

double secondsOf(const CollectiveFigures &figures, const sharding::Mesh *mesh,
                 const cost::Topology &topology) {
  auto start = cast<exec::StartOp>(figures.op); // explained are programs that the compiler makes
  auto axes = dyn_cast<comm::AxesAttr>(start.getAxes());
  if (!axes || !mesh || !figures.count)
    return 0;
  auto kind = [&] {
    switch (start.getKind()) {
    case exec::CollectiveKind::AllReduce:
      return cost::CollectiveKind::AllReduce;
    case exec::CollectiveKind::AllGather:
      return cost::CollectiveKind::AllGather;
    case exec::CollectiveKind::ReduceScatter:
      return cost::CollectiveKind::ReduceScatter;
    case exec::CollectiveKind::AllToAll:
      return cost::CollectiveKind::AllToAll;
    case exec::CollectiveKind::Broadcast:
      return cost::CollectiveKind::Broadcast;
    case exec::CollectiveKind::Permute:
      return cost::CollectiveKind::Permute;
    }
    return cost::CollectiveKind::Permute;
  }();
  double bytes = double(figures.bytes) / double(figures.count);
  return double(figures.count) *
         cost::collectiveSeconds(topology, *mesh, kind, bytes, axes.toAxisRefs(*mesh));
}

void addCollectives(ModuleOp module, const ExplainedModule &explained, RemedyTrials &trials,
                    explain::Explanation &into) {
  auto programs = module.getOps<exec::ProgramOp>();
  if (programs.empty())
    return;
  sdy::MeshTable meshes(module);
  cost::Topology topology = topologyOf(module);
  std::vector<std::pair<explain::Collective, const Cause *>> found;
  std::vector<CollectiveFigures> sites = collectiveFigures(*programs.begin());
  for (CollectiveFigures &figures : sites) {
    explain::Collective each;
    each.kind = figures.kind;
    each.axes = figures.axes;
    each.trips = figures.trips;
    each.count = figures.count;
    each.bytes = figures.bytes;
    each.wireBytes = figures.wireBytes;
    each.location = figures.location;
    each.seconds = secondsOf(figures, meshes.main(), topology);
    auto cause = explained.causes.find(placeOf(figures.op->getLoc()).number);
    found.push_back({each, cause == explained.causes.end() ? nullptr : &cause->second});
  }
  llvm::stable_sort(found,
                    [](const auto &a, const auto &b) { return a.first.seconds > b.first.seconds; });
  for (auto [i, pair] : llvm::enumerate(found)) {
    auto &[each, cause] = pair;
    if (cause) {
      each.value = cause->value;
      each.cause = cause->text;
      if (i < kListed)
        for (const Remedy &remedy : cause->remedies)
          if (std::optional<std::string> line = trials.tryOut(remedy))
            each.remedies.push_back(*line);
    }
    into.collectives.push_back(std::move(each));
  }
}

ExplainResult explainHere(llvm::StringRef text, const CompileOptions &options,
                          const CompileListener &listener) {
  ExplainResult result;
  Road road(options, listener);
  if (result.error = road.read(text, /*keepNames=*/true); !result.error.empty())
    return result;
  ModuleOp module = road.module();
  setWantsReasons(module, true);

  OwningOpRef<ModuleOp> imported;
  ExplainedModule explained;
  Movement moved;
  result.error = road.run("codegen", [&](const Phase &phase) {
    if (phase.name == "import") {
      int32_t count = 0;
      module.walk([&](Operation *op) { setNumber(op, NumberedAfter::Import, count++); });
      imported = module.clone();
      setWantsReasons(*imported, false);
    } else if (phase.name == "propagate") {
      markReshardsAskedFor(module);
    } else if (phase.name == "reshard") {
      moved = movementOf(module);
      explained = explainModule(module);
      setWantsReasons(module, false);
    }
    return true;
  });
  if (!result.error.empty())
    return result;
  listener.began("explain");
  sdy::MeshTable meshes(module);
  explain::Explanation &explanation = result.explanation;
  explanation.name = options.inputName;
  explanation.mesh = meshText(meshes.main());
  explanation.topology = topologyOf(module).name;
  explanation.devices = countDevices(module);
  RemedyTrials trials(*imported, moved, kTrials);
  addCollectives(module, explained, trials, explanation);
  explanation.values = std::move(explained.values);
  return result;
}

} // namespace

ExplainResult explainProgram(llvm::StringRef text, const CompileOptions &options,
                             const CompileListener &listener) {
  return resultOnDeepStack([&] { return explainHere(text, options, listener); });
}

} // namespace tessera
