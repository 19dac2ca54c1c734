#include "RoadRun.h"

#include "compiler/Phases.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "lib/plan/Beside.h"
#include "lib/plan/HiddenSearch.h"
#include "lib/plan/Launches.h"
#include "passes/package/StepWork.h"
#include "passes/propagate/Passes.h"
#include "passes/reshard/Movement.h"
#include "passes/reshard/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/IntEqClasses.h"
#include <map>
#include <set>
#include <tuple>

namespace tessera::plan {

using namespace mlir;

namespace {

// Ops have it in their locations, with their numbers in the graph: of which op of the program a kernel
// computes what is read there.
constexpr llvm::StringLiteral kOp = "plan op ";

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
  if (!isValid())
    return;
  findSecondsBeside(program.program, mesh().numDevices(), machine);
  prices = std::make_unique<AssignmentPrices>(data(), mesh(), machine);
}

std::string RoadRun::nameOf(int32_t op) const {
  std::string text;
  Operation *ir = program.opAt(op);
  llvm::raw_string_ostream out(text);
  out << (ir ? ir->getName().stripDialect() : "-");
  if (ir && ir->getNumResults())
    out << " " << ir->getResult(0).getType();
  out << " " << data().ops[op].location;
  return text;
}

double RoadRun::modelComputing(const Assignment &assignment) const {
  StepParts parts;
  prices->seconds(assignment, &parts);
  return parts.computing;
}

double RoadRun::modelLaunches() const {
  return launchSeconds(data(), machine, mesh().numDevices());
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
  for (size_t op = 0; op < graph.graph.ops.size(); ++op)
    if (Operation *ir = graph.opAt(int32_t(op)))
      ir->setLoc(NameLoc::get(StringAttr::get(ir->getContext(), kOp + Twine(op)), ir->getLoc()));
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

OwningOpRef<ModuleOp> RoadRun::compiled(const Assignment &assignment, cost::Overlap overlap) const {
  OwningOpRef<ModuleOp> trial = sharded(assignment);
  if (!trial)
    return {};
  cost::ScheduleOptions schedule = scheduleOf(*trial);
  schedule.overlap = overlap;
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
    return {};
  return trial;
}

double RoadRun::modelSeconds(const Assignment &assignment) {
  StepParts parts;
  double seconds = prices->seconds(assignment, &parts);
  return seconds - parts.restoring + launchSeconds(data(), machine, mesh().numDevices());
}

RoadRun::Links RoadRun::modelLinks(const Assignment &assignment) {
  StepParts parts;
  prices->seconds(assignment, &parts);
  llvm::erase_if(parts.movements, [&](const Movement &each) { return each.restores; });
  Links links;
  links.collectives = collectivesOf(*prices, parts.movements);
  links.crossing = parts.crossing;
  links.seconds = parts.crossing;
  for (const Movement &each : parts.movements) {
    const sharding::PropagatedValue &value = data().graph.values[each.value];
    Moving moving = prices->getTables().movingOf(each.value, each.leg);
    auto secondsOf = [&] {
      MovingTime time = prices->getTables().prices.timeOf(value.shape, value.elementBytes,
                                                          each.from, each.to, moving);
      return each.times * (time.exposed + time.hidden);
    };
    double all = secondsOf();
    moving.inKernel = false;
    double carried = secondsOf();
    links.seconds += carried;
    links.dividing += all - carried;
  }
  return links;
}

RoadRun::Counts RoadRun::counts(const Assignment &assignment) {
  double launches = launchSeconds(data(), machine, mesh().numDevices());
  Counts counts{prices->seconds(assignment), hiddenTimeOf(*prices, assignment).seconds(), 0,
                modelComputing(assignment) + launches};
  prices->setWeights({.firstWaits = true});
  counts.waiting = hiddenTimeOf(*prices, assignment).seconds();
  prices->setWeights({});
  return counts;
}

RoadRun::Counts RoadRun::bounds(llvm::ArrayRef<NamedAssignment> known) {
  double launches = launchSeconds(data(), machine, mesh().numDevices());
  std::vector<const Assignment *> plans;
  for (const NamedAssignment &each : known)
    plans.push_back(&each.values);
  Counts bounds{bestFrom(*prices, plans, {}, /*isThorough=*/false).lowerBound, 0, 0,
                prices->leastComputing() + launches};
  bounds.hiding = searchHidden(*prices, plans, {}).lowerBound;
  bounds.waiting = searchHidden(*prices, plans, {}, /*firstWaits=*/true, bounds.hiding).lowerBound;
  prices->setWeights({});
  return bounds;
}

// As the search calls them.
static std::string kindOf(exec::StartOp start) {
  std::string name = exec::stringifyCollectiveKind(start.getKind()).str();
  llvm::replace(name, '_', '-');
  return name == "shift" ? "permute" : name;
}

// Of the collectives of all programs, alone on their links.
std::vector<CollectiveBill> RoadRun::billOfRoad(ModuleOp compiled) const {
  std::map<std::string, CollectiveBill> kinds;
  sdy::MeshTable meshes(compiled);
  for (auto program : compiled.getOps<exec::ProgramOp>()) {
    StepWork step = stepWork(program, machine, meshes.main());
    std::vector<double> times = predictStep(step, machine).times;
    for (auto [ops, count] : llvm::zip(step.ops, times))
      for (Operation *op : ops)
        if (auto start = dyn_cast<exec::StartOp>(op)) {
          CollectiveBill &bill = kinds[kindOf(start)];
          bill.count += count;
          bill.seconds += count * timeOf(start, machine, meshes.main()).seconds();
        }
  }
  std::vector<CollectiveBill> bills;
  for (auto &[kind, bill] : kinds)
    bills.push_back({kind, bill.count, bill.seconds});
  return bills;
}

std::optional<RoadRun::Step> RoadRun::step(const Assignment &assignment,
                                           cost::Overlap overlap) const {
  OwningOpRef<ModuleOp> trial = compiled(assignment, overlap);
  if (!trial)
    return std::nullopt;
  ModulePrediction predicted = predictModule(*trial);
  return Step{predicted.time.seconds,           predicted.time.compute,
              predicted.time.communication,     predicted.time.overhead,
              double(predicted.memory.total()), billOfRoad(*trial)};
}

namespace {

// The ops that an instruction computes for.
std::set<int32_t> opsOf(Operation *op) {
  std::set<int32_t> ops;
  auto add = [&](Operation *each) {
    each->getLoc()->walk([&](Location location) {
      int32_t number;
      if (auto name = dyn_cast<NameLoc>(location))
        if (StringRef text = name.getName().getValue();
            text.consume_front(kOp) && !text.getAsInteger(10, number)) {
          ops.insert(number);
          return WalkResult::skip();
        }
      return WalkResult::advance();
    });
  };
  add(op);
  // Equal kernels are one.
  if (auto dispatch = dyn_cast<exec::DispatchOp>(op); dispatch && ops.empty())
    if (Operation *kernel = SymbolTable::lookupNearestSymbolFrom(op, dispatch.getKernelAttr()))
      kernel->walk(add);
  return ops;
}

} // namespace

std::optional<std::vector<RoadRun::Computing>>
RoadRun::computing(const Assignment &assignment) const {
  StepParts parts;
  prices->seconds(assignment, &parts);
  OwningOpRef<ModuleOp> trial = compiled(assignment, cost::Overlap::Off);
  if (!trial)
    return std::nullopt;
  std::vector<Computing> groups;
  llvm::IntEqClasses joined(data().graph.ops.size() + 1);
  std::map<int32_t, uint32_t> ofKernel;
  for (auto [op, facts] : llvm::enumerate(data().ops))
    for (const KernelPart &part : facts.parts)
      if (parts.byOp[op] > 0)
        joined.join(ofKernel.try_emplace(part.kernel, uint32_t(op)).first->second, uint32_t(op));
  auto none = uint32_t(data().graph.ops.size()); // instructions that no op of the program asks for
  struct Instruction {
    uint32_t leader;
    std::set<int32_t> ops;
    double seconds, times;
    std::string text;
  };
  std::vector<Instruction> instructions;
  sdy::MeshTable meshes(*trial);
  for (auto program : trial->getOps<exec::ProgramOp>()) {
    StepWork step = stepWork(program, machine, meshes.main());
    std::vector<double> times = predictStep(step, machine).times;
    for (auto [works, ops, count] : llvm::zip(step.blocks, step.ops, times))
      for (auto [work, op] : llvm::zip(works, ops)) {
        if (work.kind != cost::Work::Compute)
          continue;
        std::set<int32_t> of = opsOf(op);
        uint32_t leader = none;
        for (int32_t each : of)
          if (parts.byOp[each] > 0)
            leader = leader == none ? uint32_t(each) : joined.join(leader, uint32_t(each));
        auto dispatch = dyn_cast<exec::DispatchOp>(op);
        std::string text;
        llvm::raw_string_ostream(text) << (dispatch ? dispatch.getKernel() : "copy") << " " << count
                                       << " x " << work.seconds * 1e6 << " us";
        instructions.push_back(
            {leader, std::move(of), count * work.seconds, dispatch ? count : 0, std::move(text)});
      }
  }
  joined.compress();
  groups.resize(joined.getNumClasses());
  for (size_t op = 0; op < parts.byOp.size(); ++op) {
    Computing &group = groups[joined[uint32_t(op)]];
    group.model += parts.byOp[op];
    group.launches += data().ops[op].times * data().ops[op].launches;
    group.ops.push_back(int32_t(op));
  }
  for (auto &[leader, of, seconds, times, text] : instructions) {
    Computing &group = groups[joined[leader]];
    group.road += seconds;
    group.launched += times;
    group.kernels.push_back(std::move(text));
    if (leader == none)
      group.ops.insert(group.ops.end(), of.begin(), of.end());
  }
  llvm::erase_if(groups, [](const Computing &each) { return each.model == 0 && each.road == 0; });
  llvm::stable_sort(groups, [](const Computing &a, const Computing &b) {
    return std::abs(a.model - a.road) > std::abs(b.model - b.road);
  });
  return groups;
}

} // namespace tessera::plan
