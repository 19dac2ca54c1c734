// What takes a device's memory when there is none left: for the message.
#pragma once

#include "runtime/device/Device.h"
#include <string>
#include <vector>

namespace tessera::runtime {

struct LiveArray {
  std::string name; // "input 'w'"
  uint64_t bytes;   // on all devices of this process
};

// "; live are input 'w' (12 MiB), the arenas (3 MiB) and 4 others (200 KiB); 15.8 MiB of 16 MiB are
// taken", the largest first. `taken`: 0 where nobody knows.
std::string describeLive(std::vector<LiveArray> arrays, uint64_t taken, uint64_t most);

} // namespace tessera::runtime
