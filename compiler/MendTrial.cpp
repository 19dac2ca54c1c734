#include "compiler/MendTrial.h"

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
    outcome.time = predictStep(program, topology, meshes.main());
    outcome.peakBytes = memoryFigures(program).total();
    for (const KernelRun &run : kernelRuns(program, topology))
      sites[names.of("", "", run.op->getLoc())] += cost::secondsOf(topology, run);
    for (const CollectiveFigures &figures : collectiveFigures(program)) {
      outcome.wireBytes += double(figures.wireBytes);
      if (meshes.main())
        if (auto transfer = transferOf(figures, *meshes.main()))
          sites[names.of(figures.kind, figures.axes, figures.op->getLoc())] +=
              cost::secondsOf(topology, *meshes.main(), *transfer);
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
