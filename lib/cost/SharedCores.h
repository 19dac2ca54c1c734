// How long a kernel takes on several cores, as the runtime divides it.
#pragma once

#include "lib/cost/DeviceRates.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

// `seconds` on one core; `cores` that are idle but for this device (less than one and a half: none
// beside its own). Other cores take cells of the grid where it is worth their while.
inline double sharedSeconds(const DeviceRates &rates, double seconds, double grid, double cores) {
  constexpr double leastSeconds = 12e-6; // runtime/program/Kernels.cpp
  if (cores < 1.5 || grid < 2 || seconds < leastSeconds)
    return seconds;
  double used = std::min(std::floor(cores), grid);
  double largest = std::max(std::ceil(grid / used) / grid, 1 / (used * rates.coresTogether));
  return std::min(seconds, seconds * largest + rates.sharingSeconds);
}

} // namespace tessera::cost
