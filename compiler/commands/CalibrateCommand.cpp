// `tessera calibrate`.
#include "compiler/commands/CommandLine.h"

#include "compiler/Report.h"
#include "compiler/calibrate/Calibrate.h"
#include "compiler/commands/ProgramArguments.h"
#include "lib/command/Arguments.h"
#include "lib/cost/TopologyText.h"
#include "lib/files/OutputFile.h"
#include "lib/target/GpuArchitectures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace tessera {
namespace {

// "typical error 4%, largest 18% (softmax 64)"
std::string exactness(const Calibration &calibration) {
  std::vector<double> errors = cost::errorsOf(calibration.topology.device, calibration.observed);
  std::vector<std::string> names(calibration.names.begin(), calibration.names.end());
  names.resize(errors.size());
  for (const cost::LinkObservation &each : calibration.collectives) {
    errors.push_back(
        std::abs(cost::predictedSeconds(calibration.topology.network, each) / each.seconds - 1));
    names.push_back(llvm::formatv("a collective of {0} processes", each.group));
  }
  std::vector<double> sorted = errors;
  if (sorted.empty())
    return "";
  auto worst = std::max_element(errors.begin(), errors.end());
  std::sort(sorted.begin(), sorted.end());
  return llvm::formatv("median error {0:f0}%, largest {1:f0}% ({2})",
                       100 * sorted[sorted.size() / 2], 100 * *worst,
                       names[worst - errors.begin()]);
}

// What each program took, and what the rates say.
std::string reportOf(const Calibration &calibration) {
  llvm::json::Array rows;
  for (auto [name, text, one] :
       llvm::zip(calibration.names, calibration.texts, calibration.observed)) {
    llvm::json::Object work{{"steps", one.steps},
                            {"launches", one.launches},
                            {"instructions", one.instructions},
                            {"meetings", one.meetings}};
    for (unsigned i = 0; i < cost::kTerms; ++i)
      if (one.terms.amount[i] > 0)
        work[cost::nameOf(static_cast<cost::Term>(i))] = one.terms.amount[i];
    double predicted = cost::predictedSeconds(calibration.topology.device, one);
    rows.push_back(llvm::json::Object{{"program", name},
                                      {"text", text},
                                      {"seconds", one.seconds},
                                      {"predicted_seconds", predicted},
                                      {"work", std::move(work)}});
  }
  llvm::json::Array collectives;
  for (const cost::LinkObservation &each : calibration.collectives)
    collectives.push_back(llvm::json::Object{
        {"group", each.group},
        {"bytes", each.bytes},
        {"seconds", each.seconds},
        {"predicted_seconds", cost::predictedSeconds(calibration.topology.network, each)}});
  return reportText(llvm::json::Object{{"programs", std::move(rows)},
                                       {"collectives", std::move(collectives)}}) +
         "\n";
}

// Of the rank that writes them.
int write(const Calibration &calibration, files::OutputFile &file, files::OutputFile &report) {
  std::string wrong = file.write(cost::topologyText(calibration.topology));
  if (wrong.empty() && report.isOpen())
    wrong = report.write(reportOf(calibration));
  if (wrong.empty())
    wrong = files::commitTogether({&file, &report});
  return wrong.empty() ? 0 : failCommand("error: " + wrong);
}

// `gpu`: what it is compiled for; null: the cpu is measured.
int calibrateHere(command::Arguments &arguments, CalibrationOptions options,
                  const target::Choice *gpu) {
  std::string path = arguments.value("-o");
  files::OutputFile file, report;
  bool isRoot = !options.process || options.process->rank == 0;
  if (isRoot)
    if (std::string wrong =
            files::openTogether({{path, &file}, {arguments.value("--report"), &report}});
        !wrong.empty())
      return failCommand("error: " + wrong);
  bool speaks = isRoot && !arguments.has("--quiet"), onTerminal = speaks && isatty(STDERR_FILENO);
  options.quick = arguments.has("--quick");
  options.progress = [&](size_t done, size_t of, const std::string &name) {
    if (onTerminal)
      std::fprintf(stderr, "\r\033[Kcalibrate: %zu of %zu, %s", done + 1, of, name.c_str());
  };
  Calibration result = gpu ? calibrateGpu(options, *gpu) : calibrate(options);
  if (onTerminal)
    std::fprintf(stderr, "\r\033[K");
  if (!result.error.empty())
    return failCommand(result.error);
  if (isRoot && write(result, file, report))
    return 1;
  if (speaks && gpu)
    std::fprintf(stderr, "%s: %zu programs on a GPU\n", path.c_str(), result.names.size());
  else if (speaks)
    std::fprintf(stderr, "%s: %zu programs, %s\n", path.c_str(),
                 result.observed.size() + result.collectives.size(), exactness(result).c_str());
  return 0;
}

} // namespace

int calibrateCommand(int argc, const char *const *argv, const command::Measuring &measuring) {
  command::Arguments arguments(*command::findCommand("calibrate"), argc, argv);
  std::string comm = arguments.value("--comm");
  if (arguments.value("-o").empty())
    arguments.fail("no output file: tessera calibrate -o machine.json");
  if (!comm.empty() && comm != "local" && comm != "mpi")
    arguments.fail("communicator '" + comm + "': communicators are local and mpi");
  std::string targetName = arguments.value("--target");
  llvm::Expected<target::Choice> target =
      target::choose(targetName.empty() ? target::kDefaultTarget : targetName, "native");
  if (!target)
    arguments.fail(llvm::toString(target.takeError()));
  bool isGpu = target && target::isGpu(target->processors.front());
  if (isGpu && (comm == "mpi" || !arguments.value("--report").empty()))
    arguments.fail("--target=" + targetName + " goes with neither --comm=mpi nor --report");
  if (!arguments.wrong().empty())
    return failCommand("error: " + arguments.wrong());
  const target::Choice *gpu = isGpu ? &*target : nullptr;
  if (comm != "mpi")
    return calibrateHere(arguments, {.measuring = measuring}, gpu);
  command::Process process;
  if (std::string wrong = measuring.connect(process); !wrong.empty())
    return failCommand("error: " + wrong);
  int code = process.size > 1
                 ? calibrateHere(arguments, {.measuring = measuring, .process = &process}, gpu)
                 : failCommand("error: one process has no links: mpirun -n 2 tessera calibrate "
                               "--comm=mpi -o machine.json, with as many as there are");
  measuring.disconnect();
  return code;
}

} // namespace tessera
