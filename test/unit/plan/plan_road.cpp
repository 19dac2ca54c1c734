// Random plans of a program: what the search's model says of them beside what the road makes of them.
//
//   plan-road PLAIN.mlir --mesh=x=2,y=4 [--seed=1] [--count=8] [--topology=FILE] [--only=N]
//
// Prints a line of JSON for each.
#include "RandomPlans.h"
#include "RoadRun.h"

#include "compiler/Phases.h"
#include "compiler/Registration.h"
#include "compiler/TopologyFile.h"
#include "dialects/tessera/Marks.h"
#include "lib/plan/Meshes.h"
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
static llvm::cl::opt<bool> print("print", llvm::cl::desc("print the sharded module instead"));

static int fail(const llvm::Twine &what) {
  llvm::errs() << "error: " << what << "\n";
  return 1;
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
    auto text = llvm::MemoryBuffer::getFile(topologyFile);
    auto machine = text ? parseTopologyFile(module->getLoc(), (*text)->getBuffer())
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
  for (unsigned number = 0; number < count; ++number) {
    if (only >= 0 && int(number) != only)
      continue;
    std::mt19937_64 random(seed * 1000003ull + number);
    // What people write, then with some values elsewhere, then more.
    double changed = number % 4 == 3 ? 0.2 : number % 4 == 2 ? 0.03 : 0;
    plan::Assignment assignment =
        plan::randomPlan(run.data(), run.mesh(), random, 0.15 + 0.1 * (number % 8), changed);
    if (print) {
      run.sharded(assignment)->print(llvm::outs());
      continue;
    }
    double model = run.modelSeconds(assignment), peak = run.modelPeak(assignment);
    std::optional<double> reshards = run.reshardSeconds(assignment);
    auto step = run.step(assignment);
    if (!reshards || !step)
      return fail("seed " + llvm::Twine(seed) + ", plan " + llvm::Twine(number) +
                  ": the road ends");
    llvm::json::OStream out(llvm::outs());
    out.object([&] {
      out.attribute("seed", int64_t(seed));
      out.attribute("plan", int64_t(number));
      out.attribute("changed", changed);
      out.attribute("model", model);
      out.attribute("road", step->seconds);
      out.attribute("reshards", *reshards);
      out.attribute("compute", step->compute);
      out.attribute("communication", step->communication);
      out.attribute("model_peak", peak);
      out.attribute("peak", step->peakBytes);
    });
    llvm::outs() << "\n";
    llvm::outs().flush();
  }
  return 0;
}
