// What each device did when, as Chrome's trace format (chrome://tracing, Perfetto).
#pragma once

#include "lib/files/OutputFile.h"
#include "runtime/Status.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

class DeviceProgram;

struct TraceEvent {
  uint32_t instruction; // index into Decoded::code
  int64_t begin, end;   // nanoseconds of the steady clock
};

struct TracedDevice {
  const DeviceProgram *program;
  uint32_t position;
  const std::vector<TraceEvent> *events;
};

// The caller commits the file.
Status writeTrace(files::OutputFile &file, const std::vector<TracedDevice> &devices);

} // namespace tessera::runtime
