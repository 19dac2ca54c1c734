// `tessera plan`.
#include "compiler/commands/CommandLine.h"

#include "compiler/commands/ProgramArguments.h"
#include "compiler/plan/Plan.h"
#include "lib/files/OutputFile.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace tessera {
namespace {

// The exit code.
int planInput(int argc, const char *const *argv) {
  command::Arguments arguments(*command::findCommand("plan"), argc, argv);
  ProgramArguments program(arguments);
  PlanRequest request;
  std::string wrong = readPlanRequest(arguments.value("--devices"), arguments.value("--mesh"),
                                      arguments.value("--effort"), request);
  if (!wrong.empty())
    arguments.fail("--" + wrong);
  std::string outputName = arguments.value("-o"), reportName = arguments.value("--report");
  bool quiet = arguments.has("--quiet");
  PlanWishes wishes;
  wishes.all = arguments.has("--all");
  wishes.decisions = !quiet || !reportName.empty();
  if (!arguments.wrong().empty())
    return failCommand("error: " + arguments.wrong());
  std::optional<std::string> input = readFiles(program);
  if (!input)
    return 1;
  wrong = program.refuseInPlace({reportName}); // the plan may take the place of what it annotates
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  files::OutputFile output, report;
  wrong = files::openTogether({{outputName, &output}, {reportName, &report}});
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  ProgressLine progress(quiet);
  PlanResult result = planProgram(*input, program.options, request, progress.listener(), wishes);
  progress.clear();
  if (!result.error.empty())
    return failCommand(result.error);
  wrong = output.isOpen() ? output.write(result.program) : "";
  if (wrong.empty() && report.isOpen())
    wrong = report.write(result.report);
  if (wrong.empty())
    wrong = files::commitTogether({&output, &report});
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  if (!quiet && !output.isStandardOutput() && !report.isStandardOutput())
    llvm::outs() << result.text;
  return 0;
}

} // namespace

int planCommand(int argc, const char *const *argv) {
  return runCommand([&] { return planInput(argc, argv); });
}

} // namespace tessera
