// `tessera calibrate`.
#include "compiler/CommandLine.h"

#include "compiler/Calibrate.h"
#include "compiler/ProgramArguments.h"
#include "compiler/Report.h"
#include "lib/command/Arguments.h"
#include "lib/cost/TopologyText.h"
#include "lib/files/OutputFile.h"

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
  std::vector<double> sorted = errors;
  if (sorted.empty())
    return "";
  auto worst = std::max_element(errors.begin(), errors.end());
  std::sort(sorted.begin(), sorted.end());
  return llvm::formatv("median error {0:f0}%, largest {1:f0}% ({2})",
                       100 * sorted[sorted.size() / 2], 100 * *worst,
                       calibration.names[worst - errors.begin()]);
}

// What each program took, and what the rates say.
std::string reportOf(const Calibration &calibration) {
  llvm::json::Array rows;
  for (auto [name, one] : llvm::zip(calibration.names, calibration.observed)) {
    llvm::json::Object work{
        {"launches", one.launches}, {"instructions", one.instructions}, {"meetings", one.meetings}};
    for (unsigned i = 0; i < cost::kTerms; ++i)
      if (one.terms.amount[i] > 0)
        work[cost::nameOf(static_cast<cost::Term>(i))] = one.terms.amount[i];
    double predicted = cost::predictedSeconds(calibration.topology.device, one);
    rows.push_back(llvm::json::Object{{"program", name},
                                      {"seconds", one.seconds},
                                      {"predicted_seconds", predicted},
                                      {"work", std::move(work)}});
  }
  return reportText(llvm::json::Object{{"programs", std::move(rows)}}) + "\n";
}

} // namespace

int calibrateCommand(int argc, const char *const *argv, command::MeasureProgram measure) {
  command::Arguments arguments(*command::findCommand("calibrate"), argc, argv);
  std::string path = arguments.value("-o");
  if (path.empty())
    arguments.fail("no output file: tessera calibrate -o machine.json");
  if (!arguments.wrong().empty())
    return failCommand("error: " + arguments.wrong());
  files::OutputFile file, report;
  std::string wrong = files::openTogether({{path, &file}, {arguments.value("--report"), &report}});
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  bool isQuiet = arguments.has("--quiet"), onTerminal = !isQuiet && isatty(STDERR_FILENO);
  CalibrationOptions options;
  options.quick = arguments.has("--quick");
  options.measure = measure;
  options.progress = [&](size_t done, size_t of, const std::string &name) {
    if (onTerminal)
      std::fprintf(stderr, "\r\033[Kcalibrate: %zu of %zu, %s", done + 1, of, name.c_str());
  };
  Calibration result = calibrate(options);
  if (onTerminal)
    std::fprintf(stderr, "\r\033[K");
  if (!result.error.empty())
    return failCommand(result.error);
  wrong = file.write(cost::topologyText(result.topology));
  if (wrong.empty() && report.isOpen())
    wrong = report.write(reportOf(result));
  if (wrong.empty())
    wrong = files::commitTogether({&file, &report});
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  if (!isQuiet)
    std::fprintf(stderr, "%s: %zu programs, %s\n", path.c_str(), result.observed.size(),
                 exactness(result).c_str());
  return 0;
}

} // namespace tessera
