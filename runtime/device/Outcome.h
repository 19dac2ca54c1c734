// How a command, or the wait for something, ends.
#pragma once

#include <cstdint>

namespace tessera::runtime::device {

// Of a command: Done; Parked: the task is kept and pushed when it should ask again, and must not
// touch itself any more; Failed: the run's status says why.
enum class Outcome : uint8_t { Done, Parked, Failed };

} // namespace tessera::runtime::device
