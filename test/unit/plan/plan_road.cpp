// Random plans of a program: what the search's model says of them beside what the road makes of them.
//
//   plan-road PLAIN.mlir --mesh=x=2,y=4 [--seed=1] [--count=8] [--topology=FILE|NAME] [--only=N]
//
// Prints a line of JSON for each.
#include "RandomPlans.h"
#include "RoadRun.h"

#include "compiler/Phases.h"
#include "compiler/Registration.h"
#include "compiler/source/TopologyFile.h"
#include "dialects/tessera/Marks.h"
#include "lib/machines/Machines.h"
#include "lib/plan/KnownPlans.h"
#include "lib/plan/Meshes.h"
#include "lib/plan/Search.h"
#include "passes/plan/Annotations.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tessera;

static llvm::cl::opt<std::string> inputFile(llvm::cl::Positional, llvm::cl::Required);
static llvm::cl::opt<std::string> meshText("mesh", llvm::cl::Required);
static llvm::cl::opt<std::string> topologyFile("topology");
static llvm::cl::opt<unsigned> seed("seed", llvm::cl::init(1));
static llvm::cl::opt<unsigned> count("count", llvm::cl::init(8));
static llvm::cl::opt<int> only("only", llvm::cl::init(-1));
static llvm::cl::opt<bool> found("found", llvm::cl::desc("the plan that the search finds instead"));
static llvm::cl::opt<unsigned>
    kernels("kernels", llvm::cl::init(0),
            llvm::cl::desc("of each plan, so many places where computing differs most"));
static llvm::cl::opt<std::string>
    kind("kind",
         llvm::cl::desc("the plan that people know by this name instead: \"fsdp x tensor\""));
static llvm::cl::opt<bool>
    bounds("bounds",
           llvm::cl::desc("hold what the search proves against plans that people know, and "
                          "random ones, as they are compiled"));
static llvm::cl::opt<bool> print("print", llvm::cl::desc("print the sharded module instead"));

static int fail(const llvm::Twine &what) {
  llvm::errs() << "error: " << what << "\n";
  return 1;
}

static void writeComputing(const plan::RoadRun &run, const plan::RoadRun::Computing &each,
                           llvm::json::OStream &out) {
  out.object([&] {
    out.attribute("model", each.model);
    out.attribute("road", each.road);
    out.attribute("launches", each.launches);
    out.attribute("launched", each.launched);
    out.attributeArray("kernels", [&] {
      for (const std::string &kernel : each.kernels)
        out.value(kernel);
    });
    out.attributeArray("ops", [&] {
      for (int32_t op : each.ops)
        out.value(run.nameOf(op));
    });
  });
}

static void writeCollectives(llvm::StringRef name, llvm::ArrayRef<plan::CollectiveBill> bills,
                             llvm::json::OStream &out) {
  out.attributeObject(name, [&] {
    for (const plan::CollectiveBill &each : bills)
      out.attributeArray(each.kind, [&] {
        out.value(each.count);
        out.value(each.seconds);
      });
  });
}

// What people write, then with some values elsewhere, then more.
static double changedIn(unsigned number) {
  return number % 4 == 3 ? 0.2 : number % 4 == 2 ? 0.03 : 0;
}

static plan::Assignment drawn(const plan::RoadRun &run, unsigned number) {
  std::mt19937_64 random(seed * 1000003ull + number);
  return plan::randomPlan(run.data(), run.mesh(), random, 0.15 + 0.1 * (number % 8),
                          changedIn(number));
}

// None: people know none of that kind here.
static std::optional<plan::Assignment> knownOfKind(const plan::RoadRun &run) {
  for (plan::NamedAssignment &each : plan::knownPlans(run.data(), run.mesh()))
    if (each.kind == kind)
      return std::move(each.values);
  return std::nullopt;
}

static int holdBounds(plan::RoadRun &run) {
  std::vector<plan::NamedAssignment> plans = plan::knownPlans(run.data(), run.mesh());
  plan::RoadRun::Counts proven = run.bounds(plans);
  plans.push_back({"found", plan::planOnMesh(run.data(), run.mesh(), run.topology(), {}).values});
  for (unsigned number = 0; number < count; ++number)
    plans.push_back({"random " + std::to_string(number), drawn(run, number)});
  for (const plan::NamedAssignment &each : plans) {
    plan::RoadRun::Counts counted = run.counts(each.values);
    plan::HiddenTime hiding = run.hiding(each.values);
    auto step = run.step(each.values, cost::Overlap::Auto);
    if (!step)
      return fail(each.kind + ": the road ends");
    llvm::json::OStream out(llvm::outs());
    out.object([&] {
      out.attribute("kind", each.kind);
      out.attribute("all_bound", proven.all);
      out.attribute("all", counted.all);
      out.attribute("hiding_bound", proven.hiding);
      out.attribute("hiding", counted.hiding);
      out.attribute("waiting_bound", proven.waiting);
      out.attribute("waiting", counted.waiting);
      out.attribute("computing_bound", proven.computing);
      out.attribute("computing", counted.computing);
      out.attribute("launches", hiding.launches);
      out.attribute("waits", hiding.exposed);
      out.attribute("hides", hiding.hidden);
      out.attribute("road", step->seconds);
      out.attribute("compute", step->compute);
      out.attribute("communication", step->communication);
      out.attribute("overhead", step->overhead);
    });
    llvm::outs() << "\n";
    llvm::outs().flush();
  }
  return 0;
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv);
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = parseSourceFile<ModuleOp>(inputFile, &context);
  std::string wrong;
  std::optional<sharding::Mesh> mesh = plan::readMesh(meshText, wrong);
  if (!module || !mesh)
    return fail(wrong.empty() ? "no program" : wrong);
  if (!topologyFile.empty()) {
    auto text = machines::isName(topologyFile) ? llvm::MemoryBuffer::getMemBuffer(topologyFile)
                                               : llvm::MemoryBuffer::getFile(topologyFile);
    auto machine = text ? parseTopologyFile(&context, (*text)->getBuffer())
                        : llvm::Expected<TopologyAttr>(llvm::errorCodeToError(text.getError()));
    if (!machine)
      return fail(llvm::toString(machine.takeError()));
    setTopology(*module, *machine);
  }
  addMesh(*module, *mesh);
  PassManager import(&context);
  findPhase("import")->build(import);
  if (failed(import.run(*module)))
    return 1;
  if (failed(ensureTarget(*module)))
    return 1;
  plan::RoadRun run(*module);
  if (!run.isValid())
    return fail("no plan's program");
  if (bounds)
    return holdBounds(run);
  std::optional<plan::Assignment> known = knownOfKind(run);
  if (!known && !kind.empty())
    return fail("no plan is known as '" + kind + "'");
  for (unsigned number = 0; number < count; ++number) {
    if (only >= 0 && int(number) != only)
      continue;
    plan::Assignment assignment =
        known   ? *known
        : found ? plan::planOnMesh(run.data(), run.mesh(), run.topology(), {}).values
                : drawn(run, number);
    if (print) {
      run.sharded(assignment)->print(llvm::outs());
      continue;
    }
    double model = run.modelSeconds(assignment), peak = run.modelPeak(assignment);
    plan::RoadRun::Links links = run.modelLinks(assignment);
    std::optional<double> reshards = run.reshardSeconds(assignment);
    auto step = run.step(assignment);
    auto computing = run.computing(assignment);
    if (!reshards || !step || !computing)
      return fail("seed " + llvm::Twine(seed) + ", plan " + llvm::Twine(number) +
                  ": the road ends");
    llvm::json::OStream out(llvm::outs());
    out.object([&] {
      out.attribute("seed", int64_t(seed));
      out.attribute("plan", int64_t(number));
      out.attribute("changed", changedIn(number));
      out.attribute("model", model);
      out.attribute("road", step->seconds);
      out.attribute("reshards", *reshards);
      out.attribute("computing", run.modelComputing(assignment));
      out.attribute("compute", step->compute);
      out.attribute("communication", step->communication);
      out.attribute("launches", run.modelLaunches());
      out.attribute("overhead", step->overhead);
      out.attribute("model_peak", peak);
      out.attribute("peak", step->peakBytes);
      out.attribute("links", links.seconds);
      out.attribute("crossing", links.crossing);
      out.attribute("dividing", links.dividing);
      writeCollectives("collectives", links.collectives, out);
      writeCollectives("road_collectives", step->collectives, out);
      out.attributeArray("places", [&] {
        for (const plan::RoadRun::Computing &each : llvm::ArrayRef(*computing).take_front(kernels))
          writeComputing(run, each, out);
      });
    });
    llvm::outs() << "\n";
    llvm::outs().flush();
  }
  return 0;
}
