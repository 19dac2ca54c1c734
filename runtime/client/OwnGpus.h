// Whether the devices of a process have a GPU each, or share one.
#pragma once

#include "runtime/Status.h"
#include <string>

namespace tessera::runtime {

class LoadedProgram;
class Transport;

enum class OwnGpus : uint8_t { Never, WherePossible, Always };

struct GpuChoice {
  uint32_t gpus = 1; // of this process
  std::string note;  // why devices share one though there are enough; "" for nothing
};

// Of `transport`'s processes each has as many devices as the others, on a GPU each where these are for
// NCCL; null: one process, where it is as wanted.
Result<GpuChoice> chooseGpus(const LoadedProgram &program, OwnGpus wanted,
                             const Transport *transport);

// Whether a communicator of this name ("": none was named) is for the devices of one process: "nccl" is
// where no launcher has started this one.
bool isOneProcess(const std::string &communicator);
// Where it is.
OwnGpus ownGpusOf(const std::string &communicator);

} // namespace tessera::runtime
