// Where the time of a step went: each kernel, collective and copy of the program by the line that it
// comes from, and what was waited, so that the rows add up to the step.
//
//   device 0  | k0 |.| k1   |start|.....wait| k0 |....|     of the gaps (.) those before a wait are the
//   device 1  | k0   | k1 |start|.......wait| k0   |..|     collective's, the last one is the others'
//
// A row has the time of all devices, divided by how many of them have a core at the same time. Where
// devices take turns at a core, nobody can tell what a gap waited for: all gaps together are then what
// the cores did not do.
#pragma once

#include "runtime/device/Queue.h"
#include "runtime/trace/MachineSpeed.h"
#include "runtime/trace/Trace.h"
#include <span>

namespace tessera::runtime {

class LoadedProgram;

struct ProfileRow {
  enum Kind { Kernel, Collective, Copy, Waiting };
  Kind kind;
  std::string name, location; // of waiting no location
  double seconds = 0;
  // Of all devices together.
  uint64_t calls = 0;
  double bytes = 0, flops = 0;
  // Of kernels: what it takes at the machine's speed, and what the compiler predicted. 0: nobody
  // knows.
  double leastSeconds = 0, predictedSeconds = 0;
};

struct Profile {
  double seconds = 0; // of the step
  size_t step = 0;    // its number, from 1
  size_t devices = 0; // of this process
  uint32_t cores = 0; // that they have
  MachineSpeed speed;
  std::vector<ProfileRow> rows; // the longest first
};

// Keeps the quickest of the steps that it is shown.
class StepProfiler {
public:
  // Events before the step's begin are not looked at.
  void add(std::span<const TracedDevice> devices, const StepMark &step);
  // `cores`: workers of the process. `code`: the kernels on the devices; null: functions of the host.
  Profile profile(const LoadedProgram &file, uint32_t cores, const MachineSpeed &speed,
                  const device::KernelCode *code = nullptr) const;

private:
  struct Sum {
    int64_t nanoseconds = 0;
    uint64_t count = 0;
  };
  struct ProgramSums {
    const DeviceProgram *program;
    std::vector<Sum> instructions;
  };
  ProgramSums &sumsOf(const DeviceProgram *program);

  size_t shown_ = 0, step_ = 0, devices_ = 0;
  int64_t least_ = INT64_MAX; // nanoseconds of the step that is kept
  std::vector<ProgramSums> programs_;
  int64_t between_ = 0, atEnd_ = 0; // gaps before kernels and copies, and after the last event
  int64_t waited_ = 0;              // gaps before waits, which are with those
};

// {"step","seconds","devices","cores","copied_bytes_per_second",..,"rows":[{..}]}
std::string profileJson(const Profile &profile, const LoadedProgram &file);
// A table of `most` rows, with what the others take in a last one.
std::string profileText(const Profile &profile, const LoadedProgram &file, size_t steps,
                        size_t most);

} // namespace tessera::runtime
