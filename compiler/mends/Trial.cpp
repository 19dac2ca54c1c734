#include "compiler/mends/Trial.h"

#include "compiler/Phases.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "passes/package/StepWork.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <map>

namespace tessera::mends {

using namespace mlir;

Outcome outcomeOf(ModuleOp module, const Sites &names) {
  Outcome outcome;
  sdy::MeshTable meshes(module);
  cost::Topology topology = topologyOf(module);
  std::map<std::string, double> sites;
  for (auto program : module.getOps<exec::ProgramOp>()) {
    StepWork work = stepWork(program, topology, meshes.main());
    cost::Prediction step = predictStep(work, topology);
    outcome.time = step.time;
    outcome.peakBytes = memoryFigures(program).total();
    for (auto [block, times] : llvm::enumerate(step.times))
      for (auto [op, each] : llvm::zip(work.ops[block], work.blocks[block]))
        if (each.kind == cost::Work::Compute)
          sites[names.of("", "", op->getLoc())] += times * each.seconds;
    for (const CollectiveFigures &figures : collectiveFigures(program)) {
      outcome.wireBytes += double(figures.wireBytes);
      if (auto start = dyn_cast<exec::StartOp>(figures.op))
        sites[names.of(figures.kind, figures.axes, figures.op->getLoc())] +=
            double(figures.count) * timeOf(start, topology, meshes.main()).seconds();
    }
    break; // explained are programs that the compiler makes: one
  }
  for (auto &[site, seconds] : sites)
    outcome.sites.push_back({site, seconds});
  return outcome;
}

std::optional<Outcome> Trials::run(ArrayRef<Edit> edits) {
  OwningOpRef<ModuleOp> trial = program.clone();
  // What does not fit is no mend; nobody needs to hear of it.
  ScopedDiagnosticHandler quiet(program.getContext(), [](Diagnostic &) { return success(); });
  if (!apply(*trial, edits))
    return std::nullopt;
  PassManager passes(program.getContext());
  passes.enableVerifier(false); // the phases verify themselves
  for (const Phase &phase : phases()) {
    if (phase.name == "codegen")
      break;
    if (!imported || phase.name != "import")
      phase.build(passes);
  }
  if (failed(passes.run(*trial)))
    return std::nullopt;
  return outcomeOf(*trial, sites);
}

} // namespace tessera::mends
