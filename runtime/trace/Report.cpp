#include "runtime/trace/Report.h"
#include "lib/text/Json.h"
#include "lib/text/Quantity.h"
#include <algorithm>
#include <cstdio>

namespace tessera::runtime {

void StepTimes::add(double seconds) {
  if (times_.size() < kMost) {
    times_.push_back(seconds);
    return;
  }
  times_[oldest_] = seconds;
  oldest_ = (oldest_ + 1) % kMost;
}

std::vector<double> StepTimes::list() const {
  std::vector<double> ordered(times_.begin() + static_cast<ptrdiff_t>(oldest_), times_.end());
  ordered.insert(ordered.end(), times_.begin(), times_.begin() + static_cast<ptrdiff_t>(oldest_));
  return ordered;
}

// Empty where the file says nothing.
static std::string predictedJson(const LoadedProgram &program) {
  if (!program.manifest().has_prediction())
    return "";
  char number[64];
  std::snprintf(number, sizeof number, ",\"predicted_seconds\":%.9g",
                program.manifest().prediction().seconds());
  return number;
}

static std::string predictedText(const LoadedProgram &program) {
  if (!program.manifest().has_prediction())
    return "";
  const program::Prediction &predicted = program.manifest().prediction();
  return " (" + text::seconds(predicted.seconds()) + " predicted for " + predicted.topology() + ")";
}

static std::string codeJson(const device::KernelCode *code) {
  if (!code)
    return "";
  return ",\"code\":" + text::quoted(code->description()) +
         (code->note().empty() ? "" : ",\"code_note\":" + text::quoted(code->note()));
}

std::string reportJson(const LoadedProgram &program, const StepTimes &stepTimes,
                       const Counters &counters, const std::string &profile,
                       const device::KernelCode *code) {
  std::vector<double> steps = stepTimes.list();
  std::string text = "{\"devices\":" + std::to_string(program.deviceCount()) + +",\"steps\":[";
  for (size_t i = 0; i < steps.size(); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%s%.9g", i ? "," : "", steps[i]);
    text += number;
  }
  return text + "],\"collectives\":{\"count\":" + std::to_string(counters.collectives) +
         ",\"bytes\":" + std::to_string(counters.collectiveBytes) +
         "},\"peak_bytes\":" + std::to_string(counters.peakBytes) +
         ",\"host_peak_bytes\":" + std::to_string(counters.hostPeakBytes) +
         ",\"transfers\":{\"count\":" + std::to_string(counters.transfers) +
         ",\"bytes\":" + std::to_string(counters.transferBytes) + "}" + predictedJson(program) +
         ",\"target\":" + text::quoted(program.target()) +
         ",\"cpu\":" + text::quoted(program.cpu()) + codeJson(code) + profile + "}\n";
}

std::string summaryLine(const LoadedProgram &program, int64_t count, const StepTimes &steps,
                        const Counters &counters) {
  std::vector<double> times = steps.list();
  std::sort(times.begin(), times.end());
  std::string line = "ran " + text::counted(static_cast<uint64_t>(count), "step") + " on " +
                     text::counted(static_cast<uint64_t>(program.deviceCount()), "device") + ": " +
                     (times.empty() ? ""
                                    : text::seconds(times[times.size() / 2]) + " a step" +
                                          predictedText(program) + ", ");
  if (counters.collectives)
    line += text::counted(counters.collectives, "collective") + " and " +
            text::bytes(counters.collectiveBytes) + " received a step, ";
  if (counters.transfers)
    line += text::bytes(counters.transferBytes) + " to and from the host a step, ";
  line += "peak " + text::bytes(counters.peakBytes) + " a device";
  return counters.hostPeakBytes
             ? line + " and " + text::bytes(counters.hostPeakBytes) + " on the host"
             : line;
}

Counters larger(const Counters &a, const Counters &b) {
  return {std::max(a.collectives, b.collectives), std::max(a.collectiveBytes, b.collectiveBytes),
          std::max(a.peakBytes, b.peakBytes),     std::max(a.hostPeakBytes, b.hostPeakBytes),
          std::max(a.transfers, b.transfers),     std::max(a.transferBytes, b.transferBytes)};
}

} // namespace tessera::runtime
