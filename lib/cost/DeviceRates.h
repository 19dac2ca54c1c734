// What one device computes and moves per second, and what it costs to ask it to. Plain data.
#pragma once

#include <map>
#include <string>

namespace tessera::cost {

struct DeviceRates {
  double flopsPerSecond = 2e10; // of products; multiply-adds count two
  std::map<std::string, double, std::less<>>
      flopsByType;               // of an element type ("bf16"), where it differs
  double bytesPerSecond = 1e10;  // of the device's memory
  double launchSeconds = 0;      // of a kernel, beside its work
  double instructionSeconds = 0; // of any instruction of a device program
};

} // namespace tessera::cost
