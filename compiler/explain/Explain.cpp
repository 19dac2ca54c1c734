// explain: the road up to buffers, with notes on the way. Ops are numbered after reading and after
// reshard, in their locations, so that a collective at the end finds its cause, and a cause the op
// that the user wrote.
#include "compiler/explain/Explain.h"

#include "compiler/DeepStack.h"
#include "compiler/Entry.h"
#include "compiler/ExplainMemory.h"
#include "compiler/Road.h"
#include "compiler/explain/Frontier.h"
#include "compiler/explain/Groups.h"
#include "compiler/explain/Module.h"
#include "compiler/source/SourcePlaces.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "passes/package/StepWork.h"
#include "passes/propagate/Origins.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera {

using namespace mlir;

namespace {

std::string meshText(const sharding::Mesh *mesh) {
  if (!mesh)
    return "no mesh";
  std::string text = "mesh @" + mesh->name, separator = ": ";
  for (const sharding::MeshAxis &axis : mesh->axes)
    if (axis.size > 1 || mesh->numDevices() == 1) {
      text += separator + axis.name + "=" + std::to_string(axis.size);
      separator = ", ";
    }
  return text;
}

// Of the program as it was read: what it asks for, whoever computes it.
double flopsOfProgram(ModuleOp imported) {
  double flops = 0;
  if (auto main = imported.lookupSymbol<func::FuncOp>("main"))
    main.walk([&](Operation *op) {
      bool isInReduction = isa<stablehlo::StablehloDialect>(op->getParentOp()->getDialect()) &&
                           !sdy::holdsProgram(op->getParentOp());
      if (!sdy::holdsProgram(op) && !isInReduction)
        flops += flopsOf(op) * double(tripsAround(op));
    });
  return flops;
}

class Explaining {
public:
  Explaining(const CompileOptions &options, const CompileListener &listener)
      : options(options), listener(listener), road(options, listener) {}

  ExplainResult run(llvm::StringRef text, ExplainWishes asked) {
    wishes = asked;
    ExplainResult result;
    if (result.error = road.read(text, /*keepNames=*/true); !result.error.empty())
      return result;
    if (wishes.mends)
      result.mended = text.str();
    ModuleOp module = road.module();
    mends::numberOps(module);
    read = module.clone();
    setWantsReasons(module, true);
    result.error = road.run("codegen", [&](const Phase &phase) {
      takeNotes(phase);
      return true;
    });
    if (!result.error.empty())
      return result;
    listener.began("explain");
    describe(result.explanation);
    if (!program() || !trials) // trials: from import on
      return result;
    std::vector<std::string> sites = addCollectives(result.explanation);
    result.explanation.memory = memoryOf(program());
    if (unfused)
      result.explanation.memory.frontier = frontierOf(*unfused);
    result.explanation.values = std::move(explained.values);
    mends::Outcome now = mends::outcomeOf(module, trials->getSites());
    mends::SearchResult found;
    if (wishes.mends && sdy::MeshTable(trials->getProgram()).main())
      found = seek(now);
    result.explanation.tried = found.tried;
    result.explanation.untried = found.untried;
    addGroups(result.explanation, sites, explained, seen, now, found,
              topologyOf(module).device.flopsPerSecond);
    if ((result.isChanged = !found.mends.empty()))
      result.mended = mendedText(found);
    return result;
  }

private:
  void takeNotes(const Phase &phase) {
    ModuleOp module = road.module();
    if (phase.name == "import") {
      flops = flopsOfProgram(module);
      isImported = !sdy::MeshTable(*read).main(); // GSPMD's annotations have no meshes
      if (isImported) {
        mends::numberOps(module);
        read = module.clone();
        setWantsReasons(*read, false);
      }
      trials.emplace(*read, isImported);
    } else if (phase.name == "propagate") {
      markReshardsAskedFor(module);
    } else if (phase.name == "communicate") {
      if (wishes.frontier)
        unfused = module.clone();
      setWantsReasons(module, true); // of kernels
    } else if (phase.name == "fuse") {
      setWantsReasons(module, false);
    } else if (phase.name == "reshard") {
      explained = explainModule(module);
      sdy::MeshTable meshes(*read);
      if (meshes.main())
        seen = mends::observe(module, *meshes.main());
      setWantsReasons(module, false);
    }
  }

  // Null for a program that computes nothing here.
  exec::ProgramOp program() {
    auto all = road.module().getOps<exec::ProgramOp>();
    return all.empty() ? exec::ProgramOp() : *all.begin();
  }

  void describe(explain::Explanation &explanation) {
    sdy::MeshTable meshes(road.module());
    explanation.name = options.inputName;
    explanation.mesh = meshText(meshes.main());
    explanation.topology = topologyOf(road.module()).name;
    explanation.devices = countDevices(road.module());
    if (!program())
      return;
    cost::StepTime step = predictStep(program(), topologyOf(road.module()), meshes.main()).time;
    explanation.seconds = step.seconds;
    explanation.compute = step.compute;
    explanation.communication = step.communication;
    explanation.exposed = step.exposed;
    explanation.overhead = step.overhead;
    for (size_t kind = 0; kind < cost::kComputeKinds; ++kind)
      if (step.byKind[kind] > 0)
        explanation.byKind.push_back({cost::nameOf(cost::ComputeKind(kind)), step.byKind[kind]});
    explanation.flops = step.flops;
    explanation.evenFlops = flops / double(explanation.devices);
  }

  // Most time first; with the site of each.
  std::vector<std::string> addCollectives(explain::Explanation &into) {
    sdy::MeshTable meshes(road.module());
    cost::Topology topology = topologyOf(road.module());
    std::vector<std::pair<explain::Collective, std::string>> all;
    for (CollectiveFigures &figures : collectiveFigures(program())) {
      explain::Collective each;
      each.kind = figures.kind;
      each.axes = figures.axes;
      each.trips = figures.trips;
      each.count = figures.count;
      each.bytes = figures.bytes;
      each.wireBytes = figures.wireBytes;
      each.location = figures.location;
      if (auto start = dyn_cast<exec::StartOp>(figures.op))
        each.seconds = double(figures.count) * timeOf(start, topology, meshes.main()).seconds();
      auto cause = explained.causes.find(placeOf(figures.op->getLoc()).number);
      if (cause != explained.causes.end()) {
        each.value = cause->second.value;
        each.cause = cause->second.text;
      }
      all.push_back({std::move(each),
                     trials->getSites().of(figures.kind, figures.axes, figures.op->getLoc())});
    }
    llvm::stable_sort(
        all, [](const auto &a, const auto &b) { return a.first.seconds > b.first.seconds; });
    std::vector<std::string> sites;
    for (auto &[each, site] : all) {
      into.collectives.push_back(std::move(each));
      sites.push_back(std::move(site));
    }
    return sites;
  }

  mends::SearchResult seek(const mends::Outcome &now) {
    size_t ops = mends::numberedOps(road.module()).size();
    return mends::searchMends(*trials,
                              mends::knobsOf(trials->getProgram(), trials->getSites(), seen), now,
                              mends::trialsFor(ops));
  }

  std::string mendedText(const mends::SearchResult &found) {
    if (isImported)
      return "";
    OwningOpRef<ModuleOp> mended = trials->getProgram().clone();
    if (!mends::apply(*mended, found.mends.front().change.edits))
      return "";
    return printedAsRead(*mended);
  }

  const CompileOptions &options;
  const CompileListener &listener;
  Road road;
  ExplainWishes wishes;
  OwningOpRef<ModuleOp> read;    // the program that is changed
  OwningOpRef<ModuleOp> unfused; // before kernels are formed
  bool isImported = false;
  std::optional<mends::Trials> trials;
  double flops = 0;
  ExplainedModule explained;
  mends::Observations seen;
};

} // namespace

ExplainResult explainProgram(llvm::StringRef text, const CompileOptions &options,
                             const CompileListener &listener, ExplainWishes wishes) {
  return resultOnDeepStack([&] { return Explaining(options, listener).run(text, wishes); });
}

} // namespace tessera
