// Runs inputs in children, some hundred each, so that an input costs microseconds and a bad end
// costs nobody but its child: the next one goes on behind it.
#pragma once

#include "test/tools/fuzz-files/Inputs.h"
#include <cstdint>
#include <string>

namespace tessera::fuzz {

struct BatchOptions {
  uint64_t seed = 0, first = 0, count = 1000;
  unsigned seconds = 10;              // that an input may take
  uint64_t bytes = uint64_t{2} << 30; // that the process may grow by; 0: any
  std::string keep;                   // folder for inputs that end badly; empty: none
};

// Prints bad ends and the count of all; whether there was no bad one.
bool runBatches(const std::string &name, Inputs &inputs, const BatchOptions &options);

} // namespace tessera::fuzz
