#include "compiler/commands/CommandLine.h"

#include "compiler/commands/ProgramArguments.h"
#include "compiler/plan/Plan.h"
#include "lib/files/OutputFile.h"
#include "lib/target/X86Processors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace tessera {
namespace {

struct Request {
  ProgramArguments program;
  std::string output, reportFile, traceFile;
  bool quiet, plans;
  PlanRequest plan;

  explicit Request(command::Arguments &arguments)
      : program(arguments), output(arguments.value("-o")), reportFile(arguments.value("--report")),
        traceFile(arguments.value("--predicted-trace")), quiet(arguments.has("--quiet")),
        plans(arguments.has("--plan")) {
    CompileOptions &options = program.options;
    options.target = arguments.value("--target", options.target);
    options.targetCpu = arguments.value("--target-cpu", options.targetCpu);
    options.stopAfter = arguments.value("--stop-after");
    options.printAfter = arguments.value("--print-after");
    options.verifyEach = arguments.has("--verify-each");
    options.predictsTrace = !traceFile.empty();
    readPlanArguments(arguments, plans, plan);
  }
};

// Says which file was written, as sha256sum does: `sha256sum --check` and `tessera run --sha256`
// take it. Not where standard output has something else already.
void printDigest(const Request &line, llvm::StringRef digest,
                 llvm::ArrayRef<const files::OutputFile *> files) {
  bool isTaken =
      llvm::any_of(files, [](const files::OutputFile *file) { return file->isStandardOutput(); });
  if (!digest.empty() && line.program.options.printAfter.empty() && !isTaken)
    llvm::outs() << digest << "  " << line.output << "\n";
}

// The exit code.
int compileProgram(int argc, const char *const *argv) {
  command::Arguments arguments(*command::findCommand("compile"), argc, argv);
  if (arguments.value("--target-cpu") == "help") {
    llvm::outs() << target::x86ProcessorNames();
    return 0;
  }
  if (!arguments.has("-o") && !arguments.has("--stop-after"))
    arguments.fail("no output file: -o OUT.tsr; see tessera compile --help");
  Request line(arguments);
  if (!arguments.wrong().empty())
    return failCommand("error: " + arguments.wrong());
  std::optional<std::string> input = readFiles(line.program);
  if (!input)
    return 1;
  bool isProgram = line.program.options.stopAfter.empty(); // a phase may work in place
  std::string wrong = line.program.refuseInPlace(
      {isProgram ? line.output : std::string(), line.reportFile, line.traceFile});
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  files::OutputFile output, report, trace;
  wrong = files::openTogether({{line.output.empty() ? "-" : line.output, &output},
                               {line.reportFile, &report},
                               {line.traceFile, &trace}});
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  ProgressLine progress(line.quiet);
  CompileResult result =
      line.plans ? compilePlanned(*input, line.program.options, line.plan, progress.listener())
                 : compile(*input, line.program.options, progress.listener());
  progress.clear();
  if (!result.error.empty())
    return failCommand(result.error);
  llvm::outs().flush(); // what --print-after asks for comes first
  wrong = output.write(result.program);
  if (wrong.empty() && report.isOpen())
    wrong = report.write(result.report);
  if (wrong.empty() && trace.isOpen())
    wrong = result.trace.empty()
                ? "--predicted-trace: there is no device program before the phase memory"
                : trace.write(result.trace);
  if (wrong.empty())
    wrong = files::commitTogether({&output, &report, &trace});
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  printDigest(line, result.sha256, {&output, &report, &trace});
  if (!line.quiet && !result.summary.empty())
    llvm::errs() << result.summary << "\n";
  return 0;
}

} // namespace

int compileCommand(int argc, const char *const *argv) {
  return runCommand([&] { return compileProgram(argc, argv); });
}

} // namespace tessera
