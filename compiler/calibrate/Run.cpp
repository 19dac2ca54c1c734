#include "compiler/calibrate/Run.h"

#include "compiler/Compile.h"
#include "lib/cost/OnePace.h"
#include "lib/cost/TopologyText.h"

#include "llvm/Support/JSON.h"

#include <algorithm>

namespace tessera::calibration {

Compiled compileFor(const Program &program, const cost::Topology &topology,
                    llvm::StringRef target) {
  CompileOptions options;
  options.inputName = program.name;
  options.target = target.str();
  options.topology = cost::topologyText(topology);
  CompileResult result = compile(program.text, options, silentListener());
  Compiled compiled{std::move(result.program), result.error, {}};
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(result.report);
  if (!report) {
    llvm::consumeError(report.takeError());
    return compiled;
  }
  const llvm::json::Object *work =
      report->getAsObject() ? report->getAsObject()->getObject("work") : nullptr;
  if (!work)
    return compiled;
  auto number = [&](llvm::StringRef name) { return work->getNumber(name).value_or(0); };
  for (unsigned i = 0; i < cost::kTerms; ++i)
    compiled.work.terms.amount[i] = number(cost::nameOf(static_cast<cost::Term>(i)));
  compiled.work.steps = number("steps");
  compiled.work.launches = number("launches");
  compiled.work.instructions = number("instructions");
  compiled.work.meetings = number("meetings");
  return compiled;
}

double secondsOf(const Program &program, const Compiled &compiled,
                 const CalibrationOptions &options, std::string &error, Measured measured) {
  auto fail = [&](const std::string &why) {
    error = "error: calibration program '" + program.name + "': " + why;
    return 0.0;
  };
  if (!compiled.error.empty())
    return fail(compiled.error);
  std::vector<double> seconds;
  bool overProcesses = options.process && program.devices > 1;
  command::ProgramToMeasure asked{.bytes = compiled.bytes,
                                  .workers = static_cast<uint32_t>(program.threads),
                                  .overProcesses = overProcesses,
                                  .steps = options.quick   ? 5
                                           : overProcesses ? 15
                                                           : 1000,
                                  .seconds = measured.seconds,
                                  .leastSteps = options.quick ? 1 : 2};
  std::string wrong = options.measuring.measure(asked, seconds);
  if (!wrong.empty() || seconds.empty())
    return fail(wrong);
  // Of a step that is over before a processor's pace changes, the least is what others measure, too.
  constexpr double shortStep = 1e-4;
  double least = *std::min_element(seconds.begin(), seconds.end());
  return least < shortStep ? least : cost::leastInARow(seconds, measured.span);
}

} // namespace tessera::calibration
