// What each device did when, as Chrome's trace format (https://ui.perfetto.dev, chrome://tracing): a
// process a rank, in it a row a device and a row of steps, whose marks say how many copies are not
// shown because they took less than a hundredth of the step.
#pragma once

#include "runtime/Status.h"
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

class DeviceProgram;
struct CollectivePlan;
struct Decoded;
struct Instruction;

// Times are nanoseconds of this process's steady clock.
struct TraceEvent {
  uint32_t instruction; // index into Decoded::code
  int64_t begin, end;
};

struct TracedDevice {
  const DeviceProgram *program;
  uint32_t position;
  const std::vector<TraceEvent> *events;
};

struct StepMark {
  int64_t begin, end;
};

struct Timeline {
  std::vector<TracedDevice> devices;
  std::vector<StepMark> steps;
  int32_t rank = 0;
  int64_t start = 0; // of this process's clock: the trace's time 0
};

// What a `Wait` waits for, or null.
const CollectivePlan *awaitedBy(const Decoded &decoded, const Instruction &instruction);
// "all_reduce", or with the channel's name: "send grads".
std::string titleOf(const CollectivePlan &plan);

// Gets a part of the text; empty, or what is wrong.
using TraceSink = std::function<Status(std::string_view text)>;

// The events of one process, each but the first of `isFirst` after a comma. Between brackets, with
// those of other processes, they are a trace.
Status writeEvents(const TraceSink &sink, const Timeline &timeline, bool isFirst);

} // namespace tessera::runtime
