// What plans are asked for by: the command line's options, and commands that go on with the plan.
#include "compiler/plan/Plan.h"
#include "lib/plan/Meshes.h"

#include "llvm/ADT/Twine.h"

namespace tessera {

std::string readPlanRequest(llvm::StringRef devices, llvm::StringRef mesh, llvm::StringRef effort,
                            PlanRequest &into) {
  if (!devices.empty() && (devices.getAsInteger(10, into.devices) || into.devices < 1 ||
                           into.devices > plan::kMostDevices))
    return ("devices=" + devices + ": must be a number from 1 to " +
            llvm::Twine(plan::kMostDevices))
        .str();
  if (!effort.empty() &&
      (effort.getAsInteger(10, into.effort) || into.effort < 1 || into.effort > 5))
    return ("effort=" + effort + ": must be 1 to 5").str();
  into.mesh = mesh;
  return "";
}

void readPlanArguments(command::Arguments &arguments, bool plans, PlanRequest &into) {
  std::string wrong = readPlanRequest(arguments.value("--devices"), arguments.value("--mesh"),
                                      arguments.value("--effort"), into);
  if (!wrong.empty())
    arguments.fail("--" + wrong);
  else if (!plans && into != PlanRequest())
    arguments.fail("--devices, --mesh and --effort are for --plan: without it the program's own "
                   "annotations say what its devices are");
}

// For the program as the plan writes it.
static CompileOptions optionsOf(CompileOptions options) {
  options.entry = "main";
  options.inputShapes.clear();
  return options;
}

CompileResult compilePlanned(llvm::StringRef module, const CompileOptions &options,
                             const PlanRequest &request, const CompileListener &listener) {
  PlanResult plan = planProgram(module, options, request, listener, {.decisions = false});
  if (!plan.error.empty()) {
    CompileResult failed;
    failed.error = std::move(plan.error);
    return failed;
  }
  return compile(plan.program, optionsOf(options), listener);
}

ExplainResult explainPlanned(llvm::StringRef module, const CompileOptions &options,
                             const PlanRequest &request, const CompileListener &listener,
                             ExplainWishes wishes) {
  PlanResult plan = planProgram(module, options, request, listener, {.lifts = true});
  ExplainResult result;
  if (plan.error.empty())
    result = explainProgram(plan.program, optionsOf(options), listener, wishes);
  else
    result.error = std::move(plan.error);
  result.explanation.decisions = std::move(plan.decisions);
  return result;
}

} // namespace tessera
