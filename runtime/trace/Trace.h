// What each device did when, as Chrome's trace format (chrome://tracing, Perfetto).
#pragma once

#include "lib/files/OutputFile.h"
#include "runtime/Status.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

class LoadedProgram;

struct TraceEvent {
  uint32_t instruction; // index into Decoded::code
  int64_t begin, end;   // nanoseconds of the steady clock
};

// `events[d]` are those of the device at position `positions[d]`. The caller commits the file.
Status writeTrace(files::OutputFile &file, const LoadedProgram &program,
                  const std::vector<uint32_t> &positions,
                  const std::vector<std::vector<TraceEvent>> &events);

} // namespace tessera::runtime
