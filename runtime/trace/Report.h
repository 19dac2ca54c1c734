// What a step is counted to have done, and what `tessera run --report` writes of it.
#pragma once

#include "runtime/device/Queue.h"
#include "runtime/program/LoadedProgram.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

// Of the last step, on the device of this process that has most.
struct Counters {
  uint64_t collectives = 0, collectiveBytes = 0, peakBytes = 0;
  // In the host's memory; and what is copied between that and the device's.
  uint64_t hostPeakBytes = 0, transfers = 0, transferBytes = 0;
};

// Seconds of the last steps: a session that takes any number of them keeps no more of their times
// than that.
class StepTimes {
public:
  static constexpr size_t kMost = 65536;
  void add(double seconds);
  std::vector<double> list() const; // oldest first

private:
  std::vector<double> times_;
  size_t oldest_ = 0; // once there are kMost
};

// {"devices":N,"steps":[seconds],"collectives":{"count","bytes"},"peak_bytes","host_peak_bytes",
// "transfers":{"count","bytes"},"predicted_seconds","target","cpu"}: of a
// file with several images of code, `cpu` says which one ran, and of a GPU `code` what was taken of it
// (device::KernelCode). `profile`: more members, after a comma.
std::string reportJson(const LoadedProgram &program, const StepTimes &steps,
                       const Counters &counters, const std::string &profile = "",
                       const device::KernelCode *code = nullptr);

// The same in a line for people, without the line's end:
//   ran 300 steps on 8 devices: 12.3 ms a step (11.9 ms predicted for host), 14 collectives and
//   1.2 MiB received a step, peak 3.4 MiB a device
// The time is the median; what was predicted, and for which machine, stands in the file.
std::string summaryLine(const LoadedProgram &program, int64_t count, const StepTimes &steps,
                        const Counters &counters);

// Of each counter the larger one.
Counters larger(const Counters &a, const Counters &b);

} // namespace tessera::runtime
